//! Frames over USB, as a serial port (CDC-ACM): nothing but the Pico's own plug is needed.

use embassy_executor::Spawner;
use embassy_rp::Peri;
use embassy_rp::bind_interrupts;
use embassy_rp::peripherals::USB;
use embassy_rp::usb::{Driver, InterruptHandler};
use embassy_usb::class::cdc_acm::{CdcAcmClass, Sender, State};
use embassy_usb::{Builder, Config, UsbDevice};
use quaver_firmware::programs::LINE;
use static_cell::StaticCell;

/// The codes that pid.codes reserves for tests.
const VENDOR: u16 = 0x1209;
const PRODUCT: u16 = 0x0001;
/// Bytes of a packet at full speed.
const PACKET: u16 = 64;

type UsbDriver = Driver<'static, USB>;

bind_interrupts!(struct Irqs {
    USBCTRL_IRQ => InterruptHandler<USB>;
});

pub(crate) fn start(spawner: Spawner, usb: Peri<'static, USB>) {
    static STATE: StaticCell<State<'static>> = StaticCell::new();
    static CONFIG_DESCRIPTOR: StaticCell<[u8; 128]> = StaticCell::new();
    static CONTROL: StaticCell<[u8; 64]> = StaticCell::new();
    let mut config = Config::new(VENDOR, PRODUCT);
    config.manufacturer = Some("Quaver");
    config.product = Some("Predictions with error bars");
    let mut builder = Builder::new(
        Driver::new(usb, Irqs),
        config,
        CONFIG_DESCRIPTOR.init([0; 128]),
        &mut [],
        &mut [],
        CONTROL.init([0; 64]),
    );
    let class = CdcAcmClass::new(&mut builder, STATE.init(State::new()), PACKET);
    let (sender, _) = class.split();
    spawner.spawn(defmt::unwrap!(run(builder.build())));
    spawner.spawn(defmt::unwrap!(send(sender)));
}

#[embassy_executor::task]
async fn run(mut device: UsbDevice<'static, UsbDriver>) {
    device.run().await
}

/// Until a program on the host opens the port, frames are left out.
#[embassy_executor::task]
async fn send(mut sender: Sender<'static, UsbDriver>) {
    sender.wait_connection().await;
    LINE.drain(&mut sender).await
}

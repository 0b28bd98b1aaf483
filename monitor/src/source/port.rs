//! Serial ports: opening one, and naming those there are.

use std::io::Read;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use serialport::{ErrorKind, SerialPortInfo, SerialPortType};

/// Opens a port, 8N1 without flow control. USB ports ignore the speed.
pub(super) fn open(name: &str, baud: u32, poll: Duration) -> Result<Box<dyn Read + Send>> {
    let port = serialport::new(name, baud).timeout(poll).open().map_err(|error| explained(name, &error))?;
    Ok(Box::new(Port(port)))
}

/// A port whose reads end as those of a file do.
struct Port(Box<dyn serialport::SerialPort>);

impl Read for Port {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

fn explained(name: &str, error: &serialport::Error) -> anyhow::Error {
    let advice = match error.kind {
        ErrorKind::Io(std::io::ErrorKind::PermissionDenied) => {
            "you may not open it: add yourself to its group (`sudo usermod -aG dialout $USER` on Debian and \
             Ubuntu, `uucp` on Arch) and log in again"
                .to_string()
        }
        ErrorKind::NoDevice | ErrorKind::Io(std::io::ErrorKind::NotFound) => {
            format!("plug the board in by USB, or name its port; {}", ports_there_are())
        }
        _ => format!("another program may have it open; {}", ports_there_are()),
    };
    anyhow!("cannot open the port {name} ({}): {advice}", error.description)
}

/// The port of the only board that is plugged in.
pub(super) fn only_usb_port() -> Result<String> {
    let ports = available();
    let mut usb = ports.iter().filter(|port| matches!(port.port_type, SerialPortType::UsbPort(_)));
    match (usb.next(), usb.next()) {
        (Some(port), None) => Ok(port.port_name.clone()),
        (None, _) => bail!(
            "no board found: plug it in by USB, or name a source (a port, tcp:HOST:PORT, a file, or - for \
             standard input); {}",
            ports_there_are()
        ),
        _ => bail!("there are several boards: name the port of one; {}", ports_there_are()),
    }
}

fn available() -> Vec<SerialPortInfo> {
    serialport::available_ports().unwrap_or_default()
}

fn ports_there_are() -> String {
    let ports: Vec<String> = available().iter().map(described).collect();
    if ports.is_empty() {
        return "there are no serial ports on this machine".into();
    }
    format!("there are {}", ports.join(", "))
}

fn described(port: &SerialPortInfo) -> String {
    let name = &port.port_name;
    match &port.port_type {
        SerialPortType::UsbPort(usb) => {
            let product = usb.product.as_deref().map(crate::layout::cleaned);
            format!("{name} ({})", product.unwrap_or_else(|| format!("USB {:04x}:{:04x}", usb.vid, usb.pid)))
        }
        SerialPortType::BluetoothPort => format!("{name} (Bluetooth)"),
        _ => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serialport::UsbPortInfo;

    use super::*;

    #[test]
    fn ports_are_named_with_their_product() {
        let mut usb = UsbPortInfo {
            vid: 0x2e8a,
            pid: 10,
            serial_number: None,
            manufacturer: None,
            product: Some("Pico".into()),
        };
        let port = |usb: &UsbPortInfo| SerialPortInfo {
            port_name: "/dev/ttyACM0".into(),
            port_type: SerialPortType::UsbPort(usb.clone()),
        };
        assert_eq!(described(&port(&usb)), "/dev/ttyACM0 (Pico)");
        usb.product = None;
        assert_eq!(described(&port(&usb)), "/dev/ttyACM0 (USB 2e8a:000a)");
    }

    #[test]
    fn a_port_that_may_not_be_opened_says_how_to() {
        let error = serialport::Error::new(ErrorKind::Io(std::io::ErrorKind::PermissionDenied), "denied");
        assert!(explained("/dev/ttyUSB0", &error).to_string().contains("dialout"));
    }
}

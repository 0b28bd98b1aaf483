//! The boards and their images.

use std::path::{Path, PathBuf};

use super::execute::Emulator;

/// A folder of `firmware-examples`.
pub(super) struct Board {
    pub(super) folder: &'static str,
    pub(super) core: &'static str,
    pub(super) target: &'static str,
    pub(super) images: &'static [Image],
}

impl Board {
    /// Its folder in the workspace.
    pub(super) fn path(&self) -> PathBuf {
        Path::new("firmware-examples").join(self.folder)
    }

    /// What it is called in tables.
    pub(super) fn title(&self) -> String {
        format!("{} ({})", self.folder, self.core)
    }
}

/// A program for a board.
pub(super) struct Image {
    pub(super) name: &'static str,
    pub(super) feature: Option<&'static str>,
    /// What can execute it, if anything can.
    pub(super) emulator: Option<Emulator>,
    /// A negative control: it must not send what this machine predicts.
    pub(super) must_fail: bool,
}

impl Image {
    const fn new(name: &'static str) -> Self {
        Image { name, feature: None, emulator: None, must_fail: false }
    }

    const fn with(self, feature: &'static str) -> Self {
        Image { feature: Some(feature), ..self }
    }

    const fn on(self, emulator: Emulator) -> Self {
        Image { emulator: Some(emulator), ..self }
    }

    const fn that_fails(self) -> Self {
        Image { must_fail: true, ..self }
    }

    /// What it is called in tables.
    pub(super) fn title(&self) -> String {
        self.feature.map_or(self.name.into(), |feature| format!("{} --features {feature}", self.name))
    }
}

/// The images of a board that nothing can execute.
const LINKED: &[Image] = &[Image::new("replay"), Image::new("imu"), Image::new("emg"), Image::new("bench")];

pub(super) const BOARDS: &[Board] = &[
    Board {
        folder: "rp2040-pico",
        core: "M0+",
        target: "thumbv6m-none-eabi",
        images: &[
            Image::new("replay").on(Emulator::Rp2040js),
            Image::new("replay").with("usb"),
            Image::new("imu"),
            Image::new("emg"),
            Image::new("bench"),
        ],
    },
    Board { folder: "rp2350-pico2", core: "M33", target: "thumbv8m.main-none-eabihf", images: LINKED },
    Board { folder: "nrf52840-dk", core: "M4F", target: "thumbv7em-none-eabihf", images: LINKED },
    Board { folder: "nucleo-f446re", core: "M4F", target: "thumbv7em-none-eabihf", images: LINKED },
    Board { folder: "nucleo-h743zi", core: "M7", target: "thumbv7em-none-eabihf", images: LINKED },
    Board {
        folder: "netduinoplus2",
        core: "M4F",
        target: "thumbv7em-none-eabihf",
        images: &[Image::new("replay").on(Emulator::QemuSerial { machine: "netduinoplus2" })],
    },
    Board {
        folder: "generic-embassy",
        core: "M4F",
        target: "thumbv7em-none-eabihf",
        images: &[
            Image::new("replay").on(Emulator::QemuSemihosting {
                machine: "netduinoplus2",
                nanoseconds: 6,
                ends_itself: false,
            }),
            Image::new("stress").on(Emulator::QemuSemihosting {
                machine: "netduinoplus2",
                nanoseconds: 3,
                ends_itself: true,
            }),
            Image::new("stress").with("trespass").that_fails().on(Emulator::QemuSemihosting {
                machine: "netduinoplus2",
                nanoseconds: 3,
                ends_itself: true,
            }),
        ],
    },
    Board {
        folder: "generic-embassy",
        core: "M0",
        target: "thumbv6m-none-eabi",
        images: &[
            Image::new("replay").on(Emulator::QemuSemihosting {
                machine: "microbit",
                nanoseconds: 6,
                ends_itself: false,
            }),
            Image::new("stress").on(Emulator::QemuSemihosting {
                machine: "microbit",
                nanoseconds: 3,
                ends_itself: true,
            }),
        ],
    },
    Board {
        folder: "generic-embassy",
        core: "M55",
        target: "thumbv8m.main-none-eabihf",
        images: &[
            Image::new("stress").on(Emulator::QemuSemihosting {
                machine: "mps3-an547",
                nanoseconds: 3,
                ends_itself: true,
            }),
            Image::new("stress").with("trespass").that_fails().on(Emulator::QemuSemihosting {
                machine: "mps3-an547",
                nanoseconds: 3,
                ends_itself: true,
            }),
        ],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::shell::root;

    /// Folders that hold no board: what boards share, models, and the firmware of the golden streams.
    const OTHERS: [&str; 3] = ["common", "models", "qemu"];

    #[test]
    fn every_folder_is_listed() {
        let entries = fs::read_dir(root().join("firmware-examples")).expect("the folder");
        let folders = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
        let mut found: BTreeSet<String> =
            folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_string())).collect();
        found.retain(|name| !OTHERS.contains(&name.as_str()));
        let listed: BTreeSet<String> = BOARDS.iter().map(|board| board.folder.to_string()).collect();
        assert_eq!(found, listed);
    }

    #[test]
    fn every_folder_says_what_to_plug_in() {
        for board in BOARDS {
            let file = root().join("firmware-examples").join(board.folder).join(".cargo/config.toml");
            let config = fs::read_to_string(&file).expect("a config");
            let is_emulated = config.contains("qemu-system-arm");
            assert!(is_emulated || config.contains("\"../flash\", \""), "{}", board.folder);
        }
    }
}

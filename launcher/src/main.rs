//! Builds a program of this workspace and becomes it: `quaver-launcher PACKAGE PROGRAM [ARGUMENTS]`, for the
//! aliases in `.cargo/config.toml`.
//!
//! `cargo run` either shows nothing while it compiles for minutes (`--quiet`), or adds its own lines to every
//! later call. The launcher shows the first build as cargo shows it, later ones only as far as something is
//! compiled, and leaves standard output, standard input, signals and the exit code to the program. It has no
//! dependencies, so that it is built in a second itself.

mod build;

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let (Some(package), Some(program)) = (arguments.next(), arguments.next()) else {
        return failure("usage: quaver-launcher PACKAGE PROGRAM [ARGUMENTS]");
    };
    let Ok(launcher) = env::current_exe() else {
        return failure("the launcher does not find itself; build the program with `cargo build --release`");
    };
    // Cargo puts all programs of one profile into one folder, wherever that is.
    let path = launcher.with_file_name(&program).with_extension(env::consts::EXE_EXTENSION);
    match build::build(&package, &program, &path) {
        Ok(status) if status.success() => run(&path, arguments),
        // The compiler has said why.
        Ok(status) => exit_code(status.code()),
        Err(error) => failure(&format!("cannot start cargo: {error}")),
    }
}

/// Replaces this process, so that signals and the exit code are the program's own.
#[cfg(unix)]
fn run(program: &Path, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    use std::os::unix::process::CommandExt;

    let error = Command::new(program).args(arguments).exec();
    failure(&format!("cannot start {}: {error}", program.display()))
}

#[cfg(not(unix))]
fn run(program: &Path, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match Command::new(program).args(arguments).status() {
        Ok(status) => exit_code(status.code()),
        Err(error) => failure(&format!("cannot start {}: {error}", program.display())),
    }
}

fn exit_code(code: Option<i32>) -> ExitCode {
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn failure(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}

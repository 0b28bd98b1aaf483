//! Instructions of one step: a child process takes it, one instruction at a time, while the parent counts.
//!
//! Any instruction the processor has is counted, as emulators and profilers do not always do, and the count
//! is the same each time. The child stops itself before and after the step; what stopping costs is counted
//! once without a step and taken off.

#![allow(unsafe_code)] // calls of the system that have no safe door

/// The name that stands for no step at all.
const NOTHING: &str = "nothing";

/// Instructions of one step of a subject; `None` where the system does not let them be counted.
pub(crate) fn instructions(name: &str) -> Option<u64> {
    traced::count(name)?.checked_sub(traced::count(NOTHING)?)
}

/// The child: some steps to warm up, then one between two stops.
pub(crate) fn run_counted(name: &str) {
    let row = quaver_bench::row();
    let mut subjects = quaver_bench::subjects();
    let mut step = |times: usize| {
        if let Some(evaluated) = subjects.iter_mut().find(|evaluated| evaluated.name == name) {
            (0..times).for_each(|_| {
                std::hint::black_box((evaluated.step)(std::hint::black_box(&row)));
            });
        }
    };
    step(100);
    traced::stop();
    step(1);
    traced::stop();
}

#[cfg(target_os = "linux")]
mod traced {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    use std::ptr::null_mut;

    use libc::{PTRACE_CONT, PTRACE_SINGLESTEP, PTRACE_TRACEME, SIGSTOP, WIFSTOPPED, WSTOPSIG};

    /// Stops this process for its parent to see.
    pub(super) fn stop() {
        // SAFETY: sends a signal to this thread.
        unsafe { libc::raise(SIGSTOP) };
    }

    /// Single steps from the first to the second stop of a child that takes one step of the subject called
    /// `name`.
    pub(super) fn count(name: &str) -> Option<u64> {
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.args(["--counted", name]).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: between fork and exec only this call of the system is made.
        unsafe {
            command.pre_exec(|| match libc::ptrace(PTRACE_TRACEME, 0, null_mut::<u8>(), null_mut::<u8>()) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let mut child = command.spawn().ok()?;
        let counted = Traced(child.id() as libc::pid_t).count();
        child.kill().ok();
        child.wait().ok();
        counted
    }

    struct Traced(libc::pid_t);

    impl Traced {
        fn count(&self) -> Option<u64> {
            // The first stop is that of the new program itself.
            self.wait()?;
            while self.resume(PTRACE_CONT)? != SIGSTOP {}
            let mut steps = 0;
            while self.resume(PTRACE_SINGLESTEP)? != SIGSTOP {
                steps += 1;
            }
            Some(steps)
        }

        /// Lets the child go on, and returns the signal that it stops with next.
        fn resume(&self, how: libc::c_uint) -> Option<i32> {
            // SAFETY: the child is ours, traced and stopped.
            let went_on = unsafe { libc::ptrace(how, self.0, null_mut::<u8>(), null_mut::<u8>()) };
            if went_on == 0 { self.wait() } else { None }
        }

        fn wait(&self) -> Option<i32> {
            let mut status = 0;
            // SAFETY: writes the status of a child of this process.
            let found = unsafe { libc::waitpid(self.0, &mut status, 0) };
            (found == self.0 && WIFSTOPPED(status)).then(|| WSTOPSIG(status))
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod traced {
    /// Nobody watches.
    pub(super) fn stop() {}

    /// There is no way to count.
    pub(super) fn count(_: &str) -> Option<u64> {
        None
    }
}

//! `docs/reference/commands.md`, made of clap's own help, and the test that keeps it up to date.

use std::fmt::Write;

use clap::CommandFactory;

use super::CommandLine;
use crate::files::assert_up_to_date;

/// Width of the help in columns.
const WIDTH: usize = 100;

fn reference() -> String {
    let mut root = CommandLine::command().term_width(WIDTH);
    root.build();
    let mut text = String::from(
        "# Commands\n\n\
         The help of every command of `quaver`, as `quaver COMMAND --help` prints it. This page is generated: edit the\n\
         help texts in `trainer/src/commands`, then refresh it with\n\n\
         ```sh\nQUAVER_REFRESH=1 cargo test --release -p quaver-trainer --lib reference\n```\n",
    );
    let root_help = root.render_long_help().to_string();
    section(&mut text, "quaver", &root_help);
    for command in root.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let help = command.render_long_help().to_string();
        section(&mut text, &format!("quaver {}", command.get_name()), &help);
    }
    text
}

fn section(text: &mut String, name: &str, help: &str) {
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    write!(text, "\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim_end())
        .expect("a string takes any text");
}

#[test]
fn the_reference_of_commands_is_up_to_date() {
    assert_up_to_date("docs/reference/commands.md", &reference());
}

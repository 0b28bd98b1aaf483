//! The character between the cells of a file.

use std::fmt;

/// What separates cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Separator {
    /// `,`, as in RFC 4180.
    #[default]
    Comma,
    /// `;`, as spreadsheets write it where the comma is the decimal mark.
    Semicolon,
    /// A tab.
    Tab,
}

impl Separator {
    /// The separator of a file whose first line this is. A tab or a semicolon decides: neither stands in a
    /// name or a number, while a comma may be a decimal mark.
    pub(super) fn of_line(line: &str) -> Self {
        let mut is_quoted = false;
        let mut separator = Separator::Comma;
        for character in line.chars() {
            match character {
                '"' => is_quoted = !is_quoted,
                '\t' if !is_quoted => return Separator::Tab,
                ';' if !is_quoted => separator = Separator::Semicolon,
                _ => {}
            }
        }
        separator
    }

    pub(super) fn character(self) -> char {
        match self {
            Separator::Comma => ',',
            Separator::Semicolon => ';',
            Separator::Tab => '\t',
        }
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Separator::Comma => "comma",
            Separator::Semicolon => "semicolon",
            Separator::Tab => "tab",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_decides() {
        assert_eq!(Separator::of_line("a,b"), Separator::Comma);
        assert_eq!(Separator::of_line("a"), Separator::Comma);
        assert_eq!(Separator::of_line("1,5;2,5"), Separator::Semicolon);
        assert_eq!(Separator::of_line("a;b\tc"), Separator::Tab);
        assert_eq!(Separator::of_line("\"a;b\",c"), Separator::Comma);
    }
}

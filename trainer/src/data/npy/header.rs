//! The header of a `.npy` file: a Python dictionary in text, such as
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (3826, 49), }`.

use anyhow::{Context, Result, bail, ensure};

use super::{Element, MAGIC};

/// Type and shape of an array.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) element: Element,
    pub(super) shape: Vec<usize>,
}

/// Reads the header and returns it with the bytes that follow it.
pub(super) fn parse(bytes: &[u8]) -> Result<(Header, &[u8])> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        bail!("not a NumPy .npy file: it does not begin with \\x93NUMPY");
    };
    const CUT_SHORT: &str = "the file ends within its header";
    let (version, rest) = rest.split_first_chunk::<2>().context(CUT_SHORT)?;
    let (length, rest) = match version {
        [1, 0] => {
            let (length, rest) = rest.split_first_chunk().context(CUT_SHORT)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        [2, 0] => {
            let (length, rest) = rest.split_first_chunk().context(CUT_SHORT)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        [major, minor] => bail!("format version {major}.{minor}; save the array again in version 1.0 or 2.0"),
    };
    let (text, data) = rest.split_at_checked(length).context(CUT_SHORT)?;
    let text = std::str::from_utf8(text).ok().context("the header is not text")?;
    Ok((parse_dictionary(text).with_context(|| format!("in the header {:?}", text.trim()))?, data))
}

/// Reads the dictionary.
fn parse_dictionary(text: &str) -> Result<Header> {
    let mut scanner = Scanner { rest: text };
    let (mut element, mut fortran_order, mut shape) = (None, None, None);
    scanner.expect('{')?;
    while !scanner.accept('}') {
        let key = scanner.quoted()?;
        scanner.expect(':')?;
        match key {
            "descr" => element = Some(scanner.element()?),
            "fortran_order" => fortran_order = Some(scanner.boolean()?),
            "shape" => shape = Some(scanner.shape()?),
            _ => bail!("unknown key {key:?}"),
        }
        if !scanner.accept(',') {
            scanner.expect('}')?;
            break;
        }
    }
    let fortran_order = fortran_order.context("the key 'fortran_order' is missing")?;
    ensure!(!fortran_order, "the array is in Fortran order; save numpy.ascontiguousarray(x) instead");
    Ok(Header {
        element: element.context("the key 'descr' is missing")?,
        shape: shape.context("the key 'shape' is missing")?,
    })
}

/// Parses the few kinds of Python literal that a header contains.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    /// Skips white space, then `symbol` if it is next.
    fn accept(&mut self, symbol: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: char) -> Result<()> {
        ensure!(self.accept(symbol), "expected {symbol:?} before {:?}", self.rest);
        Ok(())
    }

    /// A string in single or double quotes.
    fn quoted(&mut self) -> Result<&'a str> {
        let quote = if self.accept('\'') { '\'' } else { '"' };
        ensure!(quote == '\'' || self.accept('"'), "expected a quoted name before {:?}", self.rest);
        let (text, rest) = self.rest.split_once(quote).context("a quote is not closed")?;
        self.rest = rest;
        Ok(text)
    }

    /// Letters and digits up to any other character.
    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn boolean(&mut self) -> Result<bool> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            other => bail!("expected True or False, found {other:?}"),
        }
    }

    fn element(&mut self) -> Result<Element> {
        ensure!(!self.accept('['), "arrays of records cannot be read; save one plain array");
        let descriptor = self.quoted()?;
        Element::from_descriptor(descriptor).with_context(|| {
            format!(
                "elements of type {descriptor:?} cannot be read; convert the array to {}",
                Element::SUPPORTED
            )
        })
    }

    fn shape(&mut self) -> Result<Vec<usize>> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            let size = self.word();
            shape.push(size.parse().ok().with_context(|| format!("expected a size, found {size:?}"))?);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }
}

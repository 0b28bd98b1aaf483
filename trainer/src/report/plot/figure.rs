//! A finished plot, in a page or as a file of its own.

use std::path::Path;

use super::STYLE;
use super::svg::{Size, Svg};
use crate::files;
use crate::report::html;

/// Half the width of a page on a desktop, its full width on a phone.
pub(super) const HALF: Size = Size { width: 460.0, height: 344.0 };

/// The full width of a page on a desktop.
pub(super) const WIDE: Size = Size { width: 1060.0, height: 360.0 };

/// The full width of a page on a phone.
pub(super) const NARROW: Size = Size { width: 400.0, height: 344.0 };

/// Margin around a plot in a file of its own.
const PAPER_MARGIN: f64 = 18.0;

/// A plot, drawn for each width at which it is shown.
///
/// A wide plot scaled to a phone would be illegible, so it is drawn twice and the page shows the one that
/// fits.
#[derive(Clone, Debug)]
pub enum Figure {
    /// Small enough for any screen; two of them fit side by side on a large one.
    Half(Drawing),
    /// As wide as the page.
    Full {
        /// For a desktop.
        wide: Drawing,
        /// For a phone.
        narrow: Drawing,
    },
}

impl Figure {
    /// Draws at both widths of a page.
    pub(super) fn full(draw: impl Fn(Size) -> Drawing) -> Self {
        Self::Full { wide: draw(WIDE), narrow: draw(NARROW) }
    }

    /// The plot as elements of a page that includes the style sheet.
    pub(in crate::report) fn inline(&self) -> String {
        match self {
            Self::Half(drawing) => drawing.inline(""),
            Self::Full { wide, narrow } => wide.inline(" wide") + &narrow.inline(" narrow"),
        }
    }
}

/// One drawing: its size, its description, and its elements.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub(super) size: Size,
    name: String,
    content: String,
}

impl Drawing {
    /// A drawing with its size and a text description for accessibility.
    pub(super) fn new(size: Size, name: impl Into<String>, svg: Svg) -> Self {
        Self { size, name: name.into(), content: svg.into_elements() }
    }

    /// Several drawings below each other, as one.
    pub(super) fn stacked(name: impl Into<String>, parts: Vec<Drawing>) -> Self {
        let width = parts.iter().map(|part| part.size.width).fold(0.0, f64::max);
        let (mut height, mut content) = (0.0, String::new());
        for part in parts {
            let Size { width, height: own } = part.size;
            content +=
                &format!("<svg y=\"{height}\" width=\"{width}\" height=\"{own}\">\n{}</svg>\n", part.content);
            height += own;
        }
        Self { size: Size { width, height }, name: name.into(), content }
    }

    pub(super) fn inline(&self, class: &str) -> String {
        let Self { size: Size { width, height }, name, content } = self;
        let name = html::escape(name);
        format!(
            "<svg class=\"plot{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{name}\">\n{content}</svg>\n"
        )
    }

    /// A document with its own background, independent of the scheme around it.
    fn document(&self) -> String {
        let (width, height) = (self.size.width + 2.0 * PAPER_MARGIN, self.size.height + 2.0 * PAPER_MARGIN);
        let corner = -PAPER_MARGIN;
        let name = html::escape(&self.name);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{corner} {corner} {width} {height}\" role=\"img\" aria-label=\"{name}\">\n\
             <style>\n{STYLE}</style>\n\
             <rect class=\"paper\" x=\"{corner}\" y=\"{corner}\" width=\"{width}\" height=\"{height}\" \
             rx=\"10\"/>\n{content}</svg>\n",
            content = self.content,
        )
    }
}

/// Writes a plot as an SVG file, for a README or a talk; of two drawings the wide one.
///
/// # Errors
/// When the file cannot be written.
pub fn standalone(path: &Path, figure: &Figure) -> anyhow::Result<()> {
    let (Figure::Half(drawing) | Figure::Full { wide: drawing, .. }) = figure;
    files::replace(path, drawing.document().as_bytes())
}

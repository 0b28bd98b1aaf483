//! The page around the plots.

use super::plot::Figure;
use super::{Body, KeyFigure, Report, ReportTable, Section};
use crate::printable::is_unprintable;

/// Style of the page; colours and the style of plots are in `plot/plot.css`.
const PAGE_STYLE: &str = include_str!("page.css");

/// The report as one HTML document. Its content security policy forbids loading anything.
pub fn render(report: &Report) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{plot_style}{PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>{title}</h1>\n{subtitle}</header>\n{key_figures}{sections}</main>\n</body>\n</html>\n",
        title = escape(&report.title),
        plot_style = super::plot::STYLE,
        subtitle = paragraphs(&report.subtitle),
        key_figures = key_figures(&report.key_figures),
        sections = sections(&report.sections),
    )
}

/// Escapes text for HTML and SVG, in elements and quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML 1.0 (2.2) does not allow other control characters, not even escaped ones.
            control if is_unprintable(control) && !"\n\t".contains(control) => escaped.push('\u{fffd}'),
            plain => escaped.push(plain),
        }
    }
    escaped
}

/// Text with a blank line between paragraphs.
fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|paragraph| format!("<p>{}</p>\n", escape(paragraph))).collect()
}

fn key_figures(figures: &[KeyFigure]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let cards: String = figures.iter().map(key_figure).collect();
    format!("<dl class=\"key-figures\">\n{cards}</dl>\n")
}

fn key_figure(figure: &KeyFigure) -> String {
    format!(
        "<div><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"note\">{}</dd></div>\n",
        escape(&figure.label),
        escape(&figure.value),
        escape(&figure.note)
    )
}

/// All sections, with adjacent small ones next to each other.
fn sections(sections: &[Section]) -> String {
    let mut html = String::new();
    let mut rest = sections;
    while let Some((first, others)) = rest.split_first() {
        let pair = others.first().filter(|second| is_half(first) && is_half(second));
        let width = if pair.is_some() { "half" } else { "full" };
        html.push_str(&section(first, width));
        if let Some(second) = pair {
            html.push_str(&section(second, width));
        }
        rest = &others[usize::from(pair.is_some())..];
    }
    html
}

/// Whether two such sections fit next to each other.
fn is_half(section: &Section) -> bool {
    matches!(section.body, Body::Svg(Figure::Half(_)))
}

fn section(section: &Section, width: &str) -> String {
    let body = match &section.body {
        Body::Svg(figure) => format!("<figure>\n{}</figure>\n", figure.inline()),
        Body::Table(table) => self::table(table),
        Body::Pre(text) => format!("<pre>{}</pre>\n", escape(text)),
    };
    let heading = escape(&section.heading);
    let text = paragraphs(&section.text);
    format!("<section class=\"{width}\">\n<h2>{heading}</h2>\n{text}{body}</section>\n")
}

fn table(table: &ReportTable) -> String {
    let columns = table.rows.iter().map(Vec::len).chain([table.columns.len()]).max().unwrap_or(0);
    let head = row("th", &table.columns, columns);
    let body: String = table.rows.iter().map(|cells| row("td", cells, columns)).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead>\n{head}</thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )
}

/// One row, padded with empty cells to `columns`.
fn row(element: &str, cells: &[String], columns: usize) -> String {
    let texts = cells.iter().map(String::as_str).chain(core::iter::repeat("")).take(columns);
    let cells: String = texts.map(|text| format!("<{element}>{}</{element}>", escape(text))).collect();
    format!("<tr>{cells}</tr>\n")
}

#[cfg(test)]
mod tests;

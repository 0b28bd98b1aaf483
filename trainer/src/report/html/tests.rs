//! The page is whole, safe to fill with any text, and needs nothing from outside.

use super::*;
use crate::report::plot::{Bars, Histogram, bars, histogram};
use crate::report::{plot, write};

const HOSTILE: &str = "<script>alert('&\"')</script>\u{0}";

fn hostile_report() -> Report {
    let section = |body| Section { heading: HOSTILE.into(), text: HOSTILE.into(), body };
    let bar = plot::Bar { label: HOSTILE.into(), value: 1.0, group: HOSTILE.into(), note: HOSTILE.into() };
    let ragged = vec![vec![HOSTILE.to_owned(); 3], vec![]];
    Report {
        title: HOSTILE.into(),
        subtitle: HOSTILE.into(),
        key_figures: vec![KeyFigure::new(HOSTILE, HOSTILE, HOSTILE)],
        sections: vec![
            section(Body::Svg(bars(&Bars { bars: &[bar], unit: HOSTILE }))),
            section(Body::Table(ReportTable { columns: vec![HOSTILE.into()], rows: ragged })),
            section(Body::Pre(HOSTILE.into())),
        ],
    }
}

fn half(heading: &str) -> Section {
    let body = Body::Svg(histogram(&Histogram { residuals: &[0.0] }));
    Section { heading: heading.into(), text: String::new(), body }
}

#[test]
fn text_stays_text() {
    let html = render(&hostile_report());
    assert!(!html.contains("<script"));
    assert!(!html.contains('\u{0}'));
    assert!(html.contains("&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"));
}

#[test]
fn nothing_is_fetched() {
    let html = render(&hostile_report());
    for outside in ["http://", "https://", "url(", "@import", "src=\"", "href="] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn rows_of_a_table_are_equally_long() {
    let columns = vec!["a".to_owned()];
    let html = table(&ReportTable { columns, rows: vec![vec!["1".into(), "2".into()], vec![]] });
    assert_eq!(html.matches("<th>").count(), 2);
    assert_eq!(html.matches("<td>").count(), 4);
}

#[test]
fn small_neighbours_share_a_row_and_a_lone_one_does_not() {
    let pre = Section { heading: "p".into(), text: String::new(), body: Body::Pre(String::new()) };
    let html = sections(&[half("a"), half("b"), half("c"), pre, half("d")]);
    let widths: Vec<&str> = html.lines().filter(|line| line.starts_with("<section")).collect();
    let (pair, alone) = ("<section class=\"half\">", "<section class=\"full\">");
    assert_eq!(widths, [pair, pair, alone, alone, alone]);
}

#[test]
fn blank_lines_make_paragraphs() {
    assert_eq!(paragraphs("a\nb\n\n\n\nc"), "<p>a\nb</p>\n<p>c</p>\n");
    assert_eq!(paragraphs(" \n\n "), "");
}

#[test]
fn an_empty_report_is_a_page_and_is_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    write(&path, &Report::default()).unwrap();
    let html = std::fs::read_to_string(&path).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

//! Every plot survives every kind of data, and what it shows is where it belongs.

use super::figure::{HALF, WIDE};
use super::scale::{Range, number, short_number, ticks};
use super::*;

/// Data that plots are given sooner or later.
const SERIES: [&[f32]; 9] = [
    &[],
    &[1.0],
    &[f32::NAN],
    &[f32::NAN, 1.0, f32::INFINITY],
    &[2.5, 2.5, 2.5],
    &[0.0, 0.0],
    &[f32::MIN, f32::MAX],
    &[1e-40, 2e-40],
    &[-1.0, 0.0, 4.0, 2.0],
];

/// All plots of one series.
fn all_plots(series: &[f32]) -> Vec<Figure> {
    let shaded: Vec<ShadedRange> =
        series.iter().map(|&from| ShadedRange { from, to: from + 1.0, label: "missing".into() }).collect();
    let bar = |&value: &f32| Bar { label: "a".into(), value, group: "g".into(), note: String::new() };
    let parts: Vec<Bar> = series.iter().map(bar).collect();
    let marks = [TrialMark::Stopped, TrialMark::Best].repeat(series.len());
    let words: Vec<String> = (0..series.len()).map(|index| format!("choice {}", index % 3)).collect();
    let of_trials =
        |values| Trials { values, losses: series, marks: &marks, x_label: "rate", y_label: "NLL" };
    let curves = [CalibrationCurve { label: "int8", nominal: series, observed: series }];
    let lines = [Curve { label: "noisy", values: series, style: CurveStyle::Background }];
    let areas = [Area { label: "90 % band", lower: series, upper: series }];
    let notes = crate::data::Rows { channels: 1, values: series.to_vec() };
    let parts_of_rolls = [Roll { label: "played", notes: &notes, colour: "ink" }];
    let points: Vec<[f32; 2]> = series.iter().map(|&x| [x, -x]).collect();
    let classes = [
        ClassPointSet { label: "fist", points: &points, unknown: false },
        ClassPointSet { label: "none", points: &points, unknown: true },
    ];
    let finite = |value: &&f32| value.is_finite();
    let counts: Vec<Vec<usize>> = series.iter().filter(finite).map(|_| vec![series.len()]).collect();
    let rejected = [RejectionCurve { label: "int8", rejected: series, error: series }];
    vec![
        class_points(&ClassPoints { name: "plane", classes: &classes, x_label: "first", y_label: "second" }),
        rejection(&Rejection { curves: &rejected }),
        reliability(&Calibration { curves: &curves }),
        confusion(&Confusion { classes: &words, counts: &counts }),
        rolls(&Rolls { rolls: &parts_of_rolls, first_key: 21, x_label: "step", y_label: "key" }),
        super::series(&Series {
            name: "rows",
            x: series,
            areas: &areas,
            curves: &lines,
            shaded: &shaded,
            x_label: "row",
            y_label: "force (N)",
        }),
        band(&band_of(series, series, &shaded)),
        calibration(&Calibration { curves: &curves }),
        histogram(&Histogram { residuals: series }),
        loss_curves(&LossCurves { train: series, valid: series, best: Some(series.len()), y_label: "NLL" }),
        bars(&Bars { bars: &parts, unit: "KiB" }),
        scatter(&Scatter { x: series, y: series, label: "mean", x_label: "f32", y_label: "int8" }),
        trials(&of_trials(Values::Numbers(series))),
        trials(&of_trials(Values::Words(&words))),
    ]
}

fn band_of<'a>(x: &'a [f32], y: &'a [f32], shaded: &'a [ShadedRange]) -> Band<'a> {
    let band_label = "90 % band";
    Band {
        x,
        truth: y,
        mean: y,
        lower: y,
        upper: y,
        band_label,
        shaded,
        x_label: "time (s)",
        y_label: "force (N)",
    }
}

/// Whether every element that opens also closes, in the right order.
fn is_balanced(svg: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default()) {
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap_or_default());
        }
    }
    open.is_empty()
}

/// Values of an attribute in all elements of a class, in order of appearance.
fn attributes(svg: &str, class: &str, name: &str) -> Vec<f64> {
    let class = format!("class=\"{class}\"");
    let elements = svg.split('<').filter(|element| element.contains(&class));
    let value = |element: &str| {
        let (_, after) = element.split_once(&format!(" {name}=\"")).unwrap();
        after.split('"').next().unwrap().parse().unwrap()
    };
    elements.map(value).collect()
}

#[test]
fn any_series_gives_a_sound_plot() {
    for series in SERIES {
        for figure in all_plots(series) {
            let svg = figure.inline();
            assert!(is_balanced(&svg), "{series:?}: {svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{series:?}: {svg}");
        }
    }
}

#[test]
fn no_finite_value_is_said_in_words() {
    for series in [&[][..], &[f32::NAN]] {
        let mute =
            all_plots(series).into_iter().filter(|figure| !figure.inline().contains("no data")).count();
        // A bar keeps its name when its value is missing, and shows a dash.
        assert_eq!(mute, series.len());
    }
}

#[test]
fn a_gap_breaks_the_line() {
    let x: Vec<f32> = (0..6).map(|i| i as f32).collect();
    let y = [1.0, 2.0, f32::NAN, 3.0, 4.0, 5.0];
    let svg = band(&band_of(&x, &y, &[])).inline();
    let line = svg.split("class=\"line blue\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(line.matches('M').count(), 2);
    assert_eq!(line.matches('L').count(), 3);
}

#[test]
fn thinning_keeps_the_extremes() {
    let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i) / 100.0, 50.0)).collect();
    points[4321].1 = 7.0;
    let path = trace::curve(points);
    assert!(path.contains(" 7.0L"), "the only peak");
    assert!(path.matches('L').count() < 250, "two per column of one unit");
}

#[test]
fn shading_lies_where_it_was_asked_for() {
    let x: Vec<f32> = (0..=100).map(|i| i as f32).collect();
    let shades = [ShadedRange { from: 25.0, to: 75.0, label: "half of it".into() }];
    let svg = band(&band_of(&x, &x, &shades)).inline();
    let wide = svg.split("</svg>\n<svg class=\"plot narrow\"").next().unwrap();
    let axis = attributes(wide, "axis", "x2")[0] - attributes(wide, "axis", "x1")[0];
    assert!((attributes(wide, "shade orange", "width")[0] - axis / 2.0).abs() < 0.2);
}

#[test]
fn neighbouring_labels_do_not_run_into_each_other() {
    let x: Vec<f32> = (0..=100).map(|i| i as f32).collect();
    let shade = |from: f32| ShadedRange { from, to: from + 1.0, label: "channel 3 missing".into() };
    let svg = band(&band_of(&x, &x, &[shade(50.0), shade(52.0), shade(90.0)])).inline();
    let heights = attributes(&svg, "middle strong", "y");
    assert_ne!(heights[0], heights[1]);
    assert_eq!(heights[0], heights[2]);
}

#[test]
fn a_bar_is_as_long_as_its_share() {
    let bar = |value, group: &str| Bar { label: "b".into(), value, group: group.into(), note: String::new() };
    let svg = bars(&Bars { bars: &[bar(4.0, "flash"), bar(1.0, "RAM")], unit: "KiB" }).inline();
    let track = attributes(&svg, "track", "width")[0];
    // The first rectangle of a colour is its swatch in the legend.
    assert!((attributes(&svg, "bar blue", "width")[1] - track).abs() < 0.1);
    assert!((attributes(&svg, "bar orange", "width")[1] - track / 4.0).abs() < 0.1);
}

#[test]
fn bars_in_any_number_have_room() {
    let bar = Bar { label: "b".into(), value: 1.0, group: String::new(), note: String::new() };
    for count in [1, 5, 30] {
        let parts = vec![bar.clone(); count];
        let Figure::Half(drawing) = bars(&Bars { bars: &parts, unit: "ms" }) else {
            panic!("bars are small")
        };
        let tracks = attributes(&drawing.inline(""), "track", "y");
        assert_eq!(tracks.len(), count);
        assert!(tracks[count - 1] + 14.0 <= drawing.size.height);
    }
}

#[test]
fn coverage_is_measured_against_what_was_promised() {
    let bar = |coverage| CoverageBar {
        label: "2 of 8 missing".into(),
        coverage,
        std_error: 0.05,
        group: "model reads a gap".into(),
    };
    let svg = coverage_bars(&CoverageBars { bars: &[bar(0.5), bar(f32::NAN)], nominal: 0.9 }).inline();
    let track = attributes(&svg, "track", "width")[0];
    // The first rectangle of a colour is its swatch in the legend; NaN has no bar.
    let bars = attributes(&svg, "bar blue", "width");
    assert!(bars.len() == 2 && (bars[1] - track / 2.0).abs() < 0.1, "{bars:?}");
    // The first dashed line is that of the legend.
    let promised = attributes(&svg, "line dashed ink", "x1")[1];
    assert!((promised - 4.0 - 0.9 * track).abs() < 0.1, "{promised}");
    assert!(svg.contains("50.0 ± 5.0 %") && svg.contains("90 % promised"));
}

#[test]
fn residuals_far_out_are_counted_not_drawn() {
    let svg = histogram(&Histogram { residuals: &[0.1, -9.0, 4.0] }).inline();
    assert!(svg.contains("2 beyond ±4"));
    assert_eq!(svg.matches("class=\"bar blue\"").count(), 2, "one bin and the legend");
}

#[test]
fn best_epoch_is_counted_from_one() {
    let losses = [3.0, 1.0, 2.0];
    let svg =
        loss_curves(&LossCurves { train: &losses, valid: &losses, best: Some(1), y_label: "NLL" }).inline();
    assert!(svg.contains("best: epoch 2"));
}

#[test]
fn one_wild_epoch_does_not_flatten_the_others() {
    let mut losses = vec![1e6];
    losses.extend((0..40).map(|epoch| 1.0 / (1.0 + epoch as f32)));
    let svg = loss_curves(&LossCurves { train: &[], valid: &losses, best: None, y_label: "NLL" }).inline();
    assert!(!svg.contains("1000000") && !svg.contains("e5"), "{svg}");
}

#[test]
fn ticks_are_round_and_inside() {
    let labels = |range: Range| ticks(range, 5.0, 0.0).into_iter().map(|tick| tick.label).collect::<Vec<_>>();
    assert_eq!(labels(Range::new(0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert_eq!(labels(Range::new(-12.0, 31.0)), ["\u{2212}10", "0", "10", "20", "30"]);
    let whole = ticks(Range::new(0.9, 3.1), 9.0, 1.0);
    assert_eq!(whole.iter().map(|tick| tick.value).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
}

#[test]
fn numbers_are_as_long_as_they_matter() {
    assert_eq!(number(-1.5, 0.5), "\u{2212}1.5");
    assert_eq!(short_number(0.72), "0.72");
    assert_eq!(short_number(5.634), "5.63");
    assert_eq!(short_number(7168.0), "7168");
    assert_eq!(short_number(0.0), "0");
    assert_eq!(short_number(f64::NAN), "–");
}

#[test]
fn a_plot_can_stand_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("band.svg");
    for (figure, size) in
        [(band(&band_of(&[1.0], &[1.0], &[])), WIDE), (histogram(&Histogram { residuals: &[] }), HALF)]
    {
        standalone(&path, &figure).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(svg.contains("<style>") && is_balanced(&svg));
        assert!(attributes(&svg, "plot", "width")[0] > size.width);
    }
}

#[test]
fn settings_over_decades_stand_on_a_logarithmic_axis() {
    let marks = [TrialMark::Finished; 3];
    let drawn = |values: &[f32]| {
        let data = Trials {
            values: Values::Numbers(values),
            losses: &[1.0, 2.0, 3.0],
            marks: &marks,
            x_label: "",
            y_label: "",
        };
        trials(&data).inline()
    };
    assert!(drawn(&[0.001, 0.01, 0.1]).contains(">0.05<"));
    let wide = drawn(&[0.0001, 0.01, 1.0]);
    assert!(wide.contains(">0.01<") && !wide.contains(">0.05<"));
    // Multiples of 0.002 on an ordinary axis; 1, 2 and 5 of every decade on a logarithmic one.
    assert!(
        drawn(&[0.001, 0.01, 0.011]).contains(">0.006<") && !drawn(&[0.001, 0.01, 0.1]).contains(">0.006<")
    );
}

#[test]
fn a_diverged_trial_does_not_hide_the_others() {
    let losses = [1.0, 1.1, 1.2, 1e9];
    let marks = [TrialMark::Stopped; 4];
    let values = ["a", "b", "a", "b"].map(String::from);
    let data =
        Trials { values: Values::Words(&values), losses: &losses, marks: &marks, x_label: "", y_label: "" };
    let svg = trials(&data).inline();
    assert!(svg.contains(">1.2<") && !svg.contains("e8<"), "{svg}");
}

#[test]
fn notes_stand_at_their_step_and_key_in_the_shade_of_their_probability() {
    let rows = |values: &[f32]| crate::data::Rows { channels: 3, values: values.to_vec() };
    let (played, predicted) =
        (rows(&[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), rows(&[0.0, 0.72, 0.02, 0.0, 0.0, 0.31]));
    let parts = [
        Roll { label: "played", notes: &played, colour: "ink" },
        Roll { label: "probability", notes: &predicted, colour: "blue" },
    ];
    let Figure::Full { wide, .. } =
        rolls(&Rolls { rolls: &parts, first_key: 60, x_label: "eighth note", y_label: "key" })
    else {
        panic!("as wide as the page")
    };
    let svg = wide.inline("");
    assert!(is_balanced(&svg));
    let [solid, strong, faint] = ["solid shade10 ink", "solid shade7 blue", "solid shade3 blue"]
        .map(|class| [attributes(&svg, class, "x"), attributes(&svg, class, "y")]);
    assert_eq!((solid[0].len(), strong[0].len(), faint[0].len()), (2, 1, 1));
    // The same notes at the same places, each roll in coordinates of its own; higher keys are further up.
    assert_eq!([solid[0][0], solid[1][0]], [strong[0][0], strong[1][0]]);
    assert_eq!([solid[0][1], solid[1][1]], [faint[0][0], faint[1][0]]);
    assert!(solid[0][0] < solid[0][1] && solid[1][0] > solid[1][1], "{solid:?}");
    assert!(
        svg.contains(">61<") && svg.contains(">62<") && !svg.contains(">60<"),
        "unused keys are left out"
    );
}

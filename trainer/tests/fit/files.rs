//! Files as people have them: what `--dry-run` says of them, and what is refused.

use std::fs;

use super::place::{Place, fails, json, succeeds};
use super::small_system::{csv, plain};

/// A file, options, and what `--dry-run` must print about it; `|` separates parts that must all be there.
struct Case {
    name: &'static str,
    text: fn() -> Vec<u8>,
    options: &'static [&'static str],
    prints: &'static str,
}

const TARGET: &[&str] = &["--target", "force"];

fn messy_files() -> Vec<Case> {
    let case = |name, text, options, prints| Case { name, text, options, prints };
    vec![
        case(
            "plain",
            || csv("a,b,force", 300, plain).into_bytes(),
            TARGET,
            "predict force from 2 inputs|rows ..69%",
        ),
        case(
            "some columns ahead",
            || csv("a,b,force", 300, plain).into_bytes(),
            &["--next=force", "--horizon", "1,5"],
            "predict force 1, 5 rows ahead from 3 inputs|rows ..69%",
        ),
        case(
            "semicolons and decimal commas",
            || csv("a,b,force", 300, plain).replace(',', ";").replace('.', ",").into_bytes(),
            TARGET,
            "separator: semicolon|predict force from 2 inputs",
        ),
        case(
            "tabs, Windows line ends and a byte-order mark",
            || {
                ("\u{feff}".to_string()
                    + &csv("a,b,force", 300, plain).replace(',', "\t").replace('\n', "\r\n"))
                    .into_bytes()
            },
            TARGET,
            "separator: tab|predict force from 2 inputs",
        ),
        case(
            "quoted cells and Latin-1",
            || {
                let text = csv("a,b,force,note", 300, |t, row| {
                    format!("{},\"x, \"\"{}\"\"\"", plain(t, row), t % 3)
                });
                text.replacen("note", "Größe", 1).chars().map(|c| c as u32 as u8).collect()
            },
            TARGET,
            "Latin-1 text|Größe   text|3 different values",
        ),
        case(
            "no header",
            || csv("", 300, plain).as_bytes()[1..].to_vec(),
            &["--target", "c2"],
            "predict c2 from 2 inputs",
        ),
        case(
            "units in the header",
            || csv("a [mV],b (m/s²),force [N]", 300, plain).into_bytes(),
            &["--target", "force [N]"],
            "a [mV]|to be predicted,| N\n|predict force [N] from 2 inputs",
        ),
        case(
            "units below the header",
            || csv("a,b,force\nmV,mV,N", 300, plain).into_bytes(),
            TARGET,
            "a line of units below the header|predict force from 2 inputs",
        ),
        case(
            "ISO time stamps",
            || {
                let stamp = |t: usize| {
                    format!("2026-11-17T10:{:02}:{:02}.{:03}Z", t / 6000, t / 100 % 60, t % 100 * 10)
                };
                csv("when,a,b,force", 300, |t, row| format!("{},{}", stamp(t), plain(t, row))).into_bytes()
            },
            TARGET,
            "ISO 8601|100 Hz, regular|from 2 inputs",
        ),
        case(
            "milliseconds since 1970",
            || {
                csv("ts,a,b,force", 300, |t, row| {
                    format!("{},{}", 1_794_909_600_000_u64 + 5 * t as u64, plain(t, row))
                })
                .into_bytes()
            },
            TARGET,
            "milliseconds since 1970|200 Hz, regular",
        ),
        case(
            "irregular sampling",
            || {
                csv("time,a,b,force", 300, |t, row| {
                    format!("{},{}", 0.01 * (t as f64 + 0.4 * f64::from(t as u32 % 3)), plain(t, row))
                })
                .into_bytes()
            },
            TARGET,
            "IRREGULAR|--resample",
        ),
        case(
            "irregular sampling, resampled",
            || {
                csv("time,a,b,force", 300, |t, row| {
                    format!("{},{}", 0.01 * (t as f64 + 0.4 * f64::from(t as u32 % 3)), plain(t, row))
                })
                .into_bytes()
            },
            &["--target", "force", "--resample", "50Hz"],
            "50 Hz, regular|rows are cut or resampled",
        ),
        case(
            "gaps in time",
            || {
                csv("time,a,b,force", 300, |t, row| {
                    format!("{},{}", 0.01 * t as f64 + if t < 100 { 0.0 } else { 60.0 }, plain(t, row))
                })
                .into_bytes()
            },
            TARGET,
            "1 gaps longer than 0.1 s|300 rows in 2 recordings",
        ),
        case(
            "an index, a constant, an empty and a text column",
            || {
                csv("n,a,b,force,gain,spare,who", 300, |t, row| {
                    format!("{t},{},3.3,,bob{}", plain(t, row), t % 2)
                })
                .into_bytes()
            },
            TARGET,
            "grows by one in every row|3.3 in every row|every value is missing|2 different values such as `bob0`|from 2 inputs",
        ),
        case(
            "several recordings in one file",
            || csv("session,a,b,force", 400, |t, row| format!("{},{}", t / 80, plain(t, row))).into_bytes(),
            TARGET,
            "5 recordings|by recording: 3 recordings for training, 1 recording for validation, 1 recording for testing",
        ),
        case(
            "missing values of every spelling",
            || {
                csv("a,b,force", 300, |t, row| match t % 10 {
                    0 => format!(",{:.3},{:.3}", row[1], row[2]),
                    1 => format!("{:.3},null,{:.3}", row[0], row[2]),
                    2 => format!("NaN,{:.3},{:.3}", row[1], row[2]),
                    _ => plain(t, row),
                })
                .into_bytes()
            },
            TARGET,
            "20 % missing|10 % missing",
        ),
        case(
            "a copy of the target",
            || csv("a,b,force,force2", 300, |t, row| format!("{},{:.4}", plain(t, row), row[2])).into_bytes(),
            TARGET,
            "a copy of the target `force`|from 2 inputs",
        ),
        case(
            "nothing said",
            || csv("a,b,c", 300, plain).into_bytes(),
            &[],
            "predict the next row of 3 inputs (no column is named",
        ),
        case(
            "a target by its name",
            || csv("a,b,y", 300, plain).into_bytes(),
            &[],
            "predict y from 2 inputs (by the name of y",
        ),
        case(
            "a label by its name",
            || {
                csv("a,b,c,gesture", 600, |t, row| {
                    format!("{},{}", plain(t, row), ["rest", "fist"][t / 40 % 2])
                })
                .into_bytes()
            },
            &[],
            "2 classes|by `gesture` from 3 inputs (`gesture` names classes",
        ),
        case(
            "denoising",
            || csv("a,b,c", 300, plain).into_bytes(),
            &["--clean"],
            "remove noise from 3 inputs",
        ),
        case(
            "guesses overruled",
            || {
                csv("n,time,a,b,force", 300, |t, row| format!("{t},{},{}", 0.01 * t as f64, plain(t, row)))
                    .into_bytes()
            },
            &["--target", "force", "--inputs", "n,time,a", "--time-column", "none"],
            "predict force from 3 inputs|not among --inputs",
        ),
    ]
}

#[test]
fn messy_files_are_understood_before_anything_long_starts() {
    for Case { name, text, options, prints } in messy_files() {
        let place = Place::new();
        fs::write(place.path("rows.csv"), text()).expect("a writable folder");
        let rows = place.at("rows.csv");
        let arguments: Vec<&str> =
            ["fit", &rows, "--dry-run"].into_iter().chain(options.iter().copied()).collect();
        let printed = succeeds(&arguments);
        for part in prints.split('|') {
            assert!(printed.contains(part), "{name}: {part:?} is missing in\n{printed}");
        }
    }
}

#[test]
fn what_cannot_be_understood_is_refused_with_advice() {
    let place = Place::new();
    place.write("rows.csv", &csv("a,b,force,who", 300, |t, row| format!("{},bob{}", plain(t, row), t % 2)));
    let rows = place.at("rows.csv");
    fails(&["fit", &rows, "--dry-run", "--target", "torque"], &["--target: ", "torque", "a, b, force, who"]);
    fails(&["fit", &rows, "--dry-run", "--target", "who"], &["`who` has text such as `bob0`; --label who"]);
    fails(&["fit", &rows, "--dry-run", "--inputs", "who", "--next"], &["who"]);
    fails(&["fit", &rows, "--dry-run", "--next=force", "--inputs", "a,b"], &["--next=force", "no input"]);
    fails(&["fit", &place.at("absent.csv"), "--dry-run"], &["absent.csv"]);
    fails(&["fit", &rows, &rows, "--dry-run"], &["is given twice"]);
    fails(
        &["fit", &rows, "--dry-run", "--resample", "10Hz"],
        &["--resample needs a time column", "--time-column"],
    );
    fails(&["fit", &rows, "--dry-run", "--time", "soon"], &["10min"]);
    place.write("few.csv", &csv("a,b,force", 20, plain));
    fails(&["fit", &place.at("few.csv"), "--dry-run"], &["20 rows are too few"]);
    place.write(
        "shuffled.csv",
        &csv("time,a,b,force", 300, |t, row| format!("{},{}", t * 7919 % 300, plain(t, row))),
    );
    let shuffled = place.at("shuffled.csv");
    fails(&["fit", &shuffled, "--dry-run", "--time-column", "time"], &["time", "sort", "--time-column none"]);
    place.write("other.csv", &csv("a,b,torque", 300, plain));
    fails(&["fit", &rows, &place.at("other.csv"), "--dry-run"], &["other.csv", "force"]);
}

#[test]
fn a_dry_run_for_scripts_is_one_object_and_leaves_nothing() {
    let place = Place::new();
    place.write(
        "rows.csv",
        &csv("time,a,b,force", 300, |t, row| format!("{},{}", 0.01 * t as f64, plain(t, row))),
    );
    let out = place.at("fitted");
    let rows = place.at("rows.csv");
    let found = json(&succeeds(&["fit", &rows, "--target", "force", "--dry-run", "--json", "--out", &out]));
    assert_eq!(found["columns"][0]["role"], "time");
    assert_eq!(found["columns"][3]["role"], "target");
    assert!((found["clock"]["rate_hz"].as_f64().expect("a rate") - 100.0).abs() < 0.01);
    assert!(!found["fitting"].as_array().expect("a list").is_empty());
    assert!(!place.path("fitted").exists());
}

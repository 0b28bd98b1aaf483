//! `quaver denoise`, `quaver sample` and `quaver impute` on the command line.

mod place;

use std::fs;

use place::{LivePipe, Place, config, fails, json, succeeds};
use serde_json::Value;

const LATENT: &str = config!(
    r#"inputs = ["a", "b"]
targets = "next"
noise = { snr_db = 3 }
[latent]
family = "vosp"
latents = 2
[model]
cell = "dense-tanh"
layers = [8]
[recognition]
cell = "lstm"
layers = [8]
"#,
    12
);

const PREDICTOR: &str = config!(
    r#"inputs = ["a", "b"]
targets = "clean"
noise = { snr_db = 3 }
[model]
cell = "lstm"
layers = [8]
"#,
    12
);

/// The same model, trained with clean targets.
fn with_clean_targets() -> String {
    LATENT
        .replace("targets = \"next\"", "targets = \"clean\"")
        .replace("latents = 2", "latents = 2\ndivergence_weight = 0.05")
}

/// A folder in which a model was trained into `run`.
fn trained(config: &str, more: &[&str]) -> Place {
    let place = Place::new();
    place.write("latent.toml", config);
    succeeds(&[&["train", &place.at("latent.toml"), "--out", &place.at("run")], more].concat());
    place
}

fn storn() -> Place {
    let config = LATENT.replace("vosp", "storn").replace("\"dense-tanh\"", "\"tanh\"");
    trained(&config, &["--set", "training.epochs=2"])
}

/// Clean and noisy rows of the channels, as files; every fifth value of `a` is missing.
fn write_rows(place: &Place) {
    let (mut clean, mut noisy) = (String::from("time,a,b\n"), String::from("b,a\n"));
    for t in 0..60 {
        let value = |k: f32| 5.0 + 2.0 * (t as f32 * k).sin();
        let (a, b) = (value(0.37), value(0.73));
        // Not white, but neither channel can foresee it.
        let noise = ((t * t * 7 + t * 13) % 23) as f32 / 11.0 - 1.0;
        clean += &format!("{t},{a},{b}\n");
        let a = if t % 5 == 3 { String::new() } else { (a + noise).to_string() };
        noisy += &format!("{},{a}\n", b - noise);
    }
    place.write("clean.csv", &clean);
    place.write("noisy.csv", &noisy);
}

fn columns(csv: &str, name: &str) -> Vec<f32> {
    let mut lines = csv.lines();
    let place = lines.next().and_then(|header| header.split(',').position(|column| column == name));
    let place = place.expect("a column of that name");
    let number = |line: &str| line.split(',').nth(place).and_then(|cell| cell.parse().ok());
    lines.map(|line| number(line).unwrap_or(f32::NAN)).collect()
}

#[test]
fn rows_are_denoised_on_the_host_and_in_the_runtime() {
    let place = trained(LATENT, &[]);
    write_rows(&place);
    succeeds(&["export", &place.at("run"), "--weights", "f32", "-o", &place.at("model.qvr")]);
    place.has_type("embed_denoiser");
    let denoise = |model: &str| succeeds(&["denoise", &place.at(model), "--in", &place.at("noisy.csv")]);
    let (host, device) = (denoise("run"), denoise("model.qvr"));
    let header =
        "a.mean,a.std_dev,a.epistemic,a.aleatoric,b.mean,b.std_dev,b.epistemic,b.aleatoric,surprise,a.z,b.z";
    assert_eq!((host.lines().next(), device.lines().next()), (Some(header), Some(header)));
    assert_eq!((host.lines().count(), device.lines().count()), (61, 61));
    let (means, std_devs) = (columns(&host, "a.mean"), columns(&host, "a.std_dev"));
    for (step, (mean, other)) in means.iter().zip(columns(&device, "a.mean")).enumerate() {
        // The runtime may feed latent variables in another way, whichever was best on validation.
        assert!((mean - other).abs() < 0.5 * std_devs[step], "step {step}: {mean} against {other}");
    }
    let z = columns(&device, "a.z");
    assert!((0..60).all(|step| z[step].is_nan() == (step % 5 == 3)), "missing values are not scored: {z:?}");

    let evaluate = |model: &str, more: &[&str]| {
        let (noisy, clean) = (place.at("noisy.csv"), place.at("clean.csv"));
        succeeds(&[&["denoise", &place.at(model), "--in", &noisy, "--truth", &clean], more].concat())
    };
    let (host, device) = (json(&evaluate("run", &["--json"])), json(&evaluate("model.qvr", &["--json"])));
    assert_eq!(host["before"], device["before"]);
    assert_eq!(host["before"]["per_channel"][0]["n"], 48);
    assert!(host["after"]["snr_db"].is_number());
    let page = place.at("page.html");
    let rows = evaluate("model.qvr", &["--plot", &page]);
    assert_eq!(rows.lines().count(), 61, "scores do not mix with rows");
    assert!(fs::read_to_string(&page).expect("the page").contains(">denoised<"));
}

fn evaluated(place: &Place, model: &str, more: &[&str]) -> String {
    succeeds(&[&["eval", &place.at(model), "--data", &place.at("latent.toml")], more].concat())
}

/// The scores of the run on the host, and of its checkpoint in the runtime.
fn evaluated_on_both(place: &Place) -> [Value; 2] {
    [("run", &["--json", "--draws", "1"][..]), ("model.qvr", &["--json"])]
        .map(|(model, more)| json(&evaluated(place, model, more)))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn what_has_learned_from_the_truth_denoises_on_the_host_and_in_the_runtime() {
    let place = trained(&with_clean_targets(), &["--set", "training.epochs=25"]);
    let exported = succeeds(&["export", &place.at("run"), "--weights", "f32", "-o", &place.at("model.qvr")]);
    assert!(exported.contains("validation NLL of clean rows, denoised"), "{exported}");
    write_rows(&place);
    for model in ["run", "model.qvr"] {
        let (noisy, clean) = (place.at("noisy.csv"), place.at("clean.csv"));
        let printed =
            json(&succeeds(&["denoise", &place.at(model), "--in", &noisy, "--truth", &clean, "--json"]));
        let number = |key: &str| printed[key]["snr_db"].as_f64().expect("a number");
        assert!(number("after") > number("before"), "{model}: {printed}");
    }
    let [host, device] = evaluated_on_both(&place);
    // One of the two ways that need no draws, unless the checkpoint draws, which is near both.
    let off = |way: usize| (number(&host["estimates"][way]["nll"]) - number(&device["nll"])).abs();
    assert!(off(0).min(off(1)) < 0.05, "{} {}", off(0), off(1));
    // The row helps: an estimate is better than what was expected before the row was seen.
    assert!(number(&host["estimates"][0]["mse"]) < number(&host["one_step"][0]["mse"]), "{host}");
    for found in [&host, &device] {
        let snr = |index: usize| number(&found["denoising"][index]["snr_db"]);
        assert!(snr(1) > snr(0) + 1.0, "{found}");
    }
    let text = evaluated(&place, "run", &["--draws", "1"]);
    for printed in ["clean rows", "bounds the NLL of denoised rows", "persistence *", "one-euro"] {
        assert!(text.contains(printed), "{printed}: {text}");
    }
    assert!(evaluated(&place, "model.qvr", &[]).contains("clean rows from the noisy ones up to their own"));
    let gap = ["eval", &place.at("run"), "--data", &place.at("latent.toml"), "--gap", "20..24"];
    fails(&gap, &["--gap", "data.targets = \"next\""]);
}

#[test]
fn the_checkpoint_of_a_denoiser_is_scored_as_its_run_is() {
    let place = trained(LATENT, &[]);
    succeeds(&["export", &place.at("run"), "--weights", "f32", "-o", &place.at("model.qvr")]);
    let [host, device] = evaluated_on_both(&place);
    // One of the three ways to feed latent variables is the checkpoint's.
    let apart = |key: &str| {
        let off = |way: usize| (number(&host["one_step"][way][key]) - number(&device[key])).abs();
        (0..3).map(off).fold(f64::INFINITY, f64::min)
    };
    assert!(apart("nll") < 0.05 && apart("mse") < 0.05, "{} {}", apart("nll"), apart("mse"));
    assert!(device["coverage"]["90"].is_number() && device["baselines"][2]["nll"].is_number());
    let [host, device] = [&host, &device].map(|found| &found["denoising"]);
    assert_eq!((&host[1]["name"], &host[0]), (&device[1]["name"], &device[0]));
    assert!((number(&host[1]["snr_db"]) - number(&device[1]["snr_db"])).abs() < 1.0, "{host} {device}");
    assert!(evaluated(&place, "model.qvr", &[]).contains("SNR (dB)"));
}

#[test]
fn a_live_pipe_is_denoised_row_by_row() {
    let place = trained(LATENT, &["--set", "training.epochs=1"]);
    let mut pipe = LivePipe::open(&["denoise", &place.at("run")]);
    assert!(pipe.answer("a,b\n").starts_with("a.mean,"));
    let (first, second) = (pipe.answer("5,6\n"), pipe.answer("5,6\n"));
    assert_ne!(first, second, "the past matters");
    assert_eq!(pipe.answer("\n5,6\n"), first, "a blank line starts again");
    pipe.close();
}

#[test]
fn filters_are_tuned_and_printed_beside_a_denoiser() {
    for (config, more) in [(LATENT, &["--draws", "2"][..]), (PREDICTOR, &[])] {
        let place = trained(config, &[]);
        let (run, data) = (place.at("run"), place.at("latent.toml"));
        let evaluate = |last: &[&str]| succeeds(&[&["eval", &run, "--data", &data], more, last].concat());
        let found = json(&evaluate(&["--json"]));
        let list = found["denoising"].as_array().expect("a list");
        let names: Vec<&str> = list.iter().filter_map(|entry| entry["name"].as_str()).collect();
        assert_eq!(names[..2], ["noisy rows", "this model"]);
        assert_eq!(names[2..5], ["exponential average", "one-euro", "Kalman"]);
        let snr: Vec<f64> = list.iter().filter_map(|entry| entry["snr_db"].as_f64()).collect();
        assert!((snr[0] - 3.0).abs() < 1.0 && snr[4] > snr[0], "{snr:?}");
        assert!(evaluate(&[]).contains("one-euro"));
    }
}

#[test]
fn a_predictor_of_clean_inputs_denoises_too() {
    let place = trained(PREDICTOR, &[]);
    write_rows(&place);
    place.export("int8", "model.qvr");
    for model in ["run", "model.qvr"] {
        let (noisy, clean) = (place.at("noisy.csv"), place.at("clean.csv"));
        let printed =
            json(&succeeds(&["denoise", &place.at(model), "--in", &noisy, "--truth", &clean, "--json"]));
        let number = |key: &str| printed[key]["snr_db"].as_f64().expect("a number");
        assert!(number("after") > number("before"), "{printed}");
    }
}

#[test]
fn futures_are_made_up_and_summed_up() {
    let place = storn();
    write_rows(&place);
    succeeds(&["export", &place.at("run"), "--weights", "f32", "-o", &place.at("model.qvr")]);
    for model in ["run", "model.qvr"] {
        let sample = |more: &[&str]| {
            let (model, prefix) = (place.at(model), place.at("noisy.csv"));
            let draws = ["sample", &model, "--prefix", &prefix, "--steps", "7", "--draws", "5"];
            succeeds(&[&draws, more].concat())
        };
        let futures = sample(&[]);
        assert_eq!((futures.lines().next(), futures.lines().count()), (Some("draw,step,a,b"), 36));
        assert_eq!(futures, sample(&["--seed", "1"]), "a seed gives the same numbers");
        assert_ne!(futures, sample(&["--seed", "2"]));
        let summary = sample(&["--summary"]);
        assert_eq!(summary.lines().count(), 8);
        let at =
            |name: &str, step: usize| columns(&futures, name)[step..].iter().step_by(7).copied().collect();
        let mut last: Vec<f32> = at("b", 6);
        last.sort_by(f32::total_cmp);
        assert_eq!(columns(&summary, "b.q50")[6], last[2]);
        let page = place.at("page.html");
        sample(&["--plot", &page, "--output", &place.at("futures.csv")]);
        assert_eq!(fs::read_to_string(place.at("futures.csv")).expect("the file"), futures);
        assert!(fs::read_to_string(&page).expect("the page").contains("90 % of futures"));
    }
    let free = succeeds(&["sample", &place.at("run"), "--steps", "3", "--feedback", "mean"]);
    assert_eq!(free.lines().count(), 4, "no prefix is needed");
}

#[test]
fn gaps_are_filled_in() {
    let place = storn();
    write_rows(&place);
    let (run, noisy, clean) = (place.at("run"), place.at("noisy.csv"), place.at("clean.csv"));
    let impute = |more: &[&str]| succeeds(&[&["impute", &run, "--in", &noisy], more].concat());
    let filled = impute(&["--std-devs"]);
    let text = fs::read_to_string(&noisy).expect("the rows");
    let (a, b) = (columns(&filled, "a"), columns(&filled, "b"));
    assert_eq!(b, columns(&text, "b"));
    for (step, (found, observed)) in a.iter().zip(columns(&text, "a")).enumerate() {
        assert!(found.is_finite() && (observed.is_nan() || *found == observed), "row {step}");
        assert_eq!(columns(&filled, "a.std_dev")[step] > 0.0, observed.is_nan());
    }
    let page = place.at("page.html");
    let scored = json(&impute(&["--truth", &clean, "--json", "--plot", &page, "--iterations", "3"]));
    assert_eq!(scored["model"]["per_channel"][0][2], 12);
    assert!(scored["model"]["rmse"].is_number() && scored["linear"]["rmse"].is_number());
    assert!(fs::read_to_string(&page).expect("the page").contains("imputed"));
}

#[test]
fn gaps_made_on_purpose_are_judged_beside_lines_and_forecasts() {
    let place = storn();
    let (run, config) = (place.at("run"), place.at("latent.toml"));
    let evaluate =
        |more: &[&str]| succeeds(&[&["eval", &run, "--data", &config, "--gap", "20..24"], more].concat());
    let found = json(&evaluate(&["--window", "40", "--iterations", "3", "--json"]));
    assert_eq!(
        (&found["windows"], &found["iterations"], &found["joined"]),
        (&3.into(), &3.into(), &true.into())
    );
    let names: Vec<_> = (0..3).map(|index| found["fillings"][index]["name"].as_str()).collect();
    assert_eq!(names, [Some("this model"), Some("straight lines"), Some("ridge AR forward")]);
    let unjoined = json(&evaluate(&["--window", "40", "--iterations", "3", "--json", "--unjoined"]));
    assert_ne!(found["fillings"][0], unjoined["fillings"][0]);
    assert_eq!(found["fillings"][1], unjoined["fillings"][1]);
    let text = evaluate(&[]);
    assert!(text.contains("rows 20..24 of each of 2 windows of 60 rows masked"), "{text}");
    let with = |model: &str, more: &[&str], names: &[&str]| {
        fails(&[&["eval", &place.at(model), "--data", &config, "--gap"], more].concat(), names);
    };
    with("run", &["40..70"], &["--gap 40..70", "60 rows", "--window"]);
    with("run", &["9..9"], &["30..40"]);
    with("run", &["9..10", "--window", "1000"], &["1000 rows", "--window"]);
    succeeds(&["export", &run, "--weights", "f32", "-o", &place.at("storn.qvr")]);
    with("storn.qvr", &["20..24"], &["--gap", "run folder"]);
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let place = storn();
    write_rows(&place);
    succeeds(&["export", &place.at("run"), "--weights", "f32", "-o", &place.at("storn.qvr")]);
    let (run, storn) = (place.at("run"), place.at("storn.qvr"));
    let noisy = place.at("noisy.csv");
    fails(&["denoise", &storn, "--in", &noisy], &["storn.qvr", "STORN", "quaver sample"]);
    fails(&["impute", &storn, "--in", &noisy], &["storn.qvr", "run folder", "quaver denoise"]);
    place.write("narrow.csv", "a,c\n1,2\n");
    for command in ["denoise", "impute"] {
        fails(&[command, &run, "--in", &place.at("narrow.csv")], &["narrow.csv", "`b`"]);
        fails(&[command, &run, "--in", &noisy, "--json"], &["--truth"]);
    }
    place.write("short.csv", "a,b\n1,2\n");
    fails(&["denoise", &run, "--in", &noisy, "--truth", &place.at("short.csv")], &["--truth", "[1]", "[60]"]);
    fails(&["sample", &run, "--prefix", &place.at("narrow.csv"), "--steps", "1"], &["narrow.csv", "`b`"]);
    fails(&["sample", &run], &["--steps"]);
    place.write("predictor.toml", place::CONFIG);
    let predictor = place.at("predictor");
    let config = place.at("predictor.toml");
    succeeds(&["train", &config, "--out", &predictor, "--set", "training.epochs=1"]);
    fails(&["denoise", &predictor, "--in", &noisy], &["predictor of sum", "quaver run", "clean"]);
    fails(&["sample", &predictor, "--steps", "1"], &["predictor", "STORN"]);
    fails(&["impute", &predictor, "--in", &noisy], &["predictor", "[latent]"]);
    let clean = ["train", &config, "--out", &place.at("other"), "--set", "data.targets=clean"];
    fails(&clean, &["data.targets", "data.noise"]);
    let noise = ["train", &config, "--out", &place.at("other"), "--set", "data.noise={ seed = 1 }"];
    fails(&noise, &["data.noise", "db", "on"]);
    let other = place.at("clean.toml");
    place.write("clean.toml", &with_clean_targets());
    fails(&["eval", &run, "--data", &other], &["explains the rows it reads", "data.targets = \"next\""]);
    let storn = ["train", &other, "--out", &place.at("other"), "--set", "latent.family=storn"];
    fails(&storn, &["data.targets", "latent.family = \"vosp\""]);
}

#[test]
fn notes_are_scored_and_drawn() {
    let place = Place::new();
    let bars = |count: usize| "60,64;64;60,67;67\n".repeat(count);
    for (name, count) in [("train", 12), ("valid", 4), ("test", 4)] {
        place.write(&format!("{name}.txt"), &bars(count));
    }
    let config = PREDICTOR
        .replace(".csv", ".txt")
        .replace("inputs = [\"a\", \"b\"]\n", "")
        .replace("snr_db = 3", "on = 0.1")
        .replace("[model]\n", "[model]\nlikelihood = \"bernoulli\"\n");
    place.write("notes.toml", &config);
    let (run, picture) = (place.at("run"), place.at("roll.svg"));
    succeeds(&["train", &place.at("notes.toml"), "--out", &run]);
    let found = json(&succeeds(&["eval", &run, "--json", "--roll", &picture]));
    let names: Vec<&str> = found["denoising"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|e| e["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["noisy rows", "this model", "this model, observed notes", "key by key"]);
    assert!(found["denoising"][0]["nll"].is_null() && found["denoising"][1]["nll"].is_number(), "{found}");
    assert_eq!(found["denoising"][0]["recall"], 1.0);
    let text = succeeds(&["eval", &run]);
    assert!(text.contains("NLL of clean rows") && text.contains("key by key: how often"), "{text}");
    let picture = fs::read_to_string(&picture).expect("the picture");
    assert!(picture.contains("what was played") && picture.contains("key (MIDI)"));
}

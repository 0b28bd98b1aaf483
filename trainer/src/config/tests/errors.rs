//! Configs that are refused: what is wrong, where, and what would be right.

use super::{Config, SHORT, error, parse};

#[test]
fn methods_that_contradict_each_other_are_refused() {
    for (set, problem) in [
        (&["model.implicit_variance=true"][..], "`model.implicit_variance` needs a source of variance"),
        (
            &["model.implicit_variance=true", "model.cell=dense-tanh", "noise.recurrent_keep=0.9"],
            "`model.implicit_variance` needs a source of variance",
        ),
        (&["model.implicit_variance=true", "model.likelihood=bernoulli"], "needs `model.likelihood"),
        (&["weights.posterior=ropd", "model.output=plain"], "`model.output` must be \"propagating\""),
        (&["weights.posterior=vb", "model.likelihood=bernoulli"], "`weights.posterior` \"vb\" needs"),
        (&["weights.noise_std_dev=1", "weights.keep=0.5"], "`weights.noise_std_dev` and `weights.keep`"),
        (&["weights.posterior=bbb", "weights.keep=0.5"], "`weights.keep` does not go with"),
        (&["weights.posterior=bbb", "weights.noise_std_dev=1"], "`weights.noise_std_dev` does not go with"),
        (
            &["weights.posterior=bbb", "weights.draws=3", "weights.antithetic=true"],
            "`weights.draws` must be even with `weights.antithetic = true`, found 3",
        ),
        (
            &["weights.posterior=bbb", "weights.prior=learned", "weights.prior_std_dev=[1, 0.1]"],
            "`weights.prior_std_dev` describes a mixture, but `weights.prior` is \"learned\"",
        ),
        (
            &["weights.posterior=bbb", "weights.sharpen_std_dev=0.1"],
            "`weights.sharpen_std_dev` needs `weights.sharpen = true`",
        ),
        (
            &["weights.posterior=bbb", "init.sharpen_rate=1"],
            "`init.sharpen_rate` needs `weights.sharpen = true`",
        ),
        (&["weights.posterior=ropd", "weights.prior=mixture"], "`weights.prior` needs `weights.posterior"),
        (&["weights.prior=learned"], "`weights.prior` needs `weights.posterior"),
        (&["weights.draws=2"], "`weights.draws` needs `weights.posterior = \"bbb\"`"),
        (&["weights.posterior=vb", "weights.sharpen=true"], "`weights.sharpen` needs `weights.posterior"),
        (
            &["weights.posterior=bbb", "model.implicit_variance=true"],
            "`model.implicit_variance` needs a source of variance",
        ),
        (&["training.carry_state=true", "training.chunk=0"], "`training.carry_state` needs `training.chunk`"),
        (&["noise.learn_keep=true"], "`noise.learn_keep` needs a keep probability below 1"),
        (&["noise.kind=additive", "noise.input_keep=0.5"], "`noise.input_keep` belongs to"),
    ] {
        let error = error(SHORT, set);
        assert!(error.contains(problem), "{error}");
    }
    let between = ["model.implicit_variance=true", "model.layers=[2, 2]", "noise.between_keep=0.9"];
    assert!(parse(SHORT, &between).is_ok(), "noise between layers is a source of variance");
    assert!(parse(SHORT, &["weights.posterior=ropd", "weights.prior=learned"]).is_ok(), "its only prior");
}

#[test]
fn an_envelope_is_a_truth_of_its_own() {
    let set = |more: &'static str| ["data.targets=clean", "data.envelope=5", more];
    assert!(parse(SHORT, &set("seed=1")).is_ok() && parse(SHORT, &set("data.noise={ snr_db = 5 }")).is_ok());
    for (more, problem) in [
        ("data.envelope=4", "`data.envelope` must be an odd number of rows"),
        ("data.targets=force", "`data.envelope` needs `data.targets = \"clean\"`"),
    ] {
        let error = error(SHORT, &set(more));
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn training_rows_change_into_ones_that_could_be() {
    let all = ["data.augment={ rotate = ['a..d'], ring = 'd..f', gain = 0.1 }", "data.augment.speed=0.2"];
    let config = parse(SHORT, &all).unwrap();
    let again: Config = toml::from_str(&config.to_toml().unwrap()).unwrap();
    assert_eq!(config, again);
    for (set, problem) in [
        (&["data.augment.gain=-0.1"][..], "`data.augment.gain` must be from 0 to 2, found -0.1"),
        (&["data.augment.blend=2"], "`data.augment.blend` must be from 0 to 1, found 2"),
        (
            &["data.augment.missing=often"],
            "invalid value: string \"often\", expected \"off\", \"on\", or a table",
        ),
        (
            &["data.augment.missing.chunks=0"],
            "`data.augment.missing.chunks` must be above 0 and at most 1, found 0",
        ),
        (
            &["data.augment.missing={ rows = [9, 3] }"],
            "`data.augment.missing.rows` must be a shortest gap of 1 or above",
        ),
        (&["data.augment.turn=2"], "unknown field `turn`, expected one of `rotate`"),
        (
            &["data.augment.speed=0.1", "model.likelihood=bernoulli"],
            "`data.augment.speed` changes targets that must be 0 or 1",
        ),
        (
            &["data.augment.shift=0.1", "model.likelihood=bernoulli", "data.targets=next"],
            "`data.augment.shift` changes targets",
        ),
    ] {
        let error = error(SHORT, set);
        assert!(error.contains(problem), "{error}");
    }
    for [set, expected] in [["off", "\"off\""], ["false", "\"off\""]] {
        let config = parse(SHORT, &[&format!("data.augment.missing={set}")]).unwrap();
        assert_eq!(config.settings().unwrap()["data.augment.missing"], expected);
    }
    let on = parse(SHORT, &["data.augment.missing=on"]).unwrap();
    assert_eq!(on, parse(SHORT, &["data.augment.missing={}"]).unwrap());
    assert_eq!(on, toml::from_str(&on.to_toml().unwrap()).unwrap());
    let inputs_alone = ["data.augment.shift=0.1", "model.likelihood=bernoulli"];
    assert!(parse(SHORT, &inputs_alone).is_ok(), "other columns stay zeros and ones");
}

#[test]
fn errors_in_overrides_name_them() {
    assert_eq!(
        error(SHORT, &["training.epochs=0"]),
        "--set training.epochs=0: `training.epochs` must be from 1 to 1000000, found 0"
    );
    assert_eq!(error(SHORT, &["epochs"]), "--set epochs: expected key=value, such as training.epochs=5");
    assert_eq!(error(SHORT, &["a..b=1"]), "--set a..b=1: the key `a..b` has an empty part");
    assert_eq!(
        error(SHORT, &["data.train.x=1"]),
        "--set data.train.x=1: `train` is a value, not a table: it has no `x`"
    );
    let unknown = error(SHORT, &["seed=2", "training.epoch=5"]);
    assert!(
        unknown.starts_with(
            "--set training.epoch=5: `training.epoch`: unknown field `epoch`, expected one of `optimiser`"
        ),
        "{unknown}"
    );
    let nested = error(SHORT, &["data.train=[{ file = 'a', row = '1..2' }]"]);
    assert!(nested.contains("unknown field `row`") && nested.starts_with("--set data.train=["), "{nested}");
}

#[test]
fn errors_name_file_line_and_key() {
    assert_eq!(error("seed = 1\nseed = 2\n", &[]), "run.toml:2:1: duplicate key");
    assert_eq!(error("[data]\ntrain = 'a.csv'\n", &[]), "run.toml:1:1: `data`: missing field `targets`");
    let unknown = error(&format!("{SHORT}[model]\ncell = \"rnn\"\n"), &[]);
    let expected = "run.toml:5:8: `model.cell`: unknown variant `rnn`, \
        expected one of `lstm`, `gru`, `tanh`, `sigmoid`, `relu`, `dense-tanh`, `dense-sigmoid`, `dense-relu`";
    assert_eq!(unknown, expected);
    let rows = error("[data]\ntargets = 'next'\ntrain = [{ file = 'a', rows = '5-9' }]", &[]);
    assert!(
        rows.starts_with("run.toml:3:31: `data.train`: found `5-9`, expected a range such as `0..2502`"),
        "{rows}"
    );
    let train = error("[data]\ntrain = 3\ntargets = 'next'\n", &[]);
    assert!(
        train.starts_with(
            "run.toml:2:9: `data.train`: invalid type: integer `3`, expected the path of a file"
        ),
        "{train}"
    );
}

#[test]
fn values_out_of_range_name_file_line_and_key() {
    let problem = |section: &str| error(&format!("{SHORT}{section}"), &[]);
    assert_eq!(
        problem("valid_fraction = 1.0"),
        "run.toml:4:18: `data.valid_fraction` must be above 0 and below 1, found 1"
    );
    assert_eq!(
        problem("valid_fraction = 0.1\nvalid = 'b.csv'"),
        "run.toml:4:18: `data.valid_fraction` and `data.valid` exclude each other; remove one of them"
    );
    assert_eq!(
        problem("[model]\nlayers = []"),
        "run.toml:5:10: `model.layers` must list the units of 1 to 8 layers, found 0; it may be empty with `model.linear`"
    );
    assert_eq!(
        problem("[model]\nlayers = [8, 0]"),
        "run.toml:5:10: `model.layers` must be from 1 to 4096, found 0"
    );
    assert_eq!(
        problem("[noise]\ninput_keep = 0"),
        "run.toml:5:14: `noise.input_keep` must be above 0 and at most 1, found 0"
    );
    assert_eq!(
        problem("[training]\nlearning_rate = nan"),
        "run.toml:5:17: `training.learning_rate` must be above 0, found NaN"
    );
    assert_eq!(
        problem("[init]\nspectral_radius = 1\nrecurrent_std_dev = 1"),
        "run.toml:6:21: `init.recurrent_std_dev` and `init.spectral_radius` \
         both set the size of the recurrent weights; remove one of them"
    );
    assert_eq!(
        problem("[init]\nfrom = 'runs/all'\nsparse = 3"),
        "run.toml:5:8: `init.from` excludes the other keys of `[init]` except `sharpen_rate`; remove them"
    );
    assert_eq!(
        error("[data]\ntrain = { file = 'a.csv', rows = '9..', burn_in = 3 }\ntargets = 'next'", &[]),
        "run.toml:2:9: `data.train` must not have `burn_in`, which is for test data"
    );
    assert_eq!(
        error("[data]\ntrain = []\ntargets = 'next'", &[]),
        "run.toml:2:9: `data.train` must name at least one file"
    );
}

#[test]
fn unknown_keys_are_errors_at_every_level() {
    for section in ["model", "noise", "weights", "init", "training"] {
        let error = error(&format!("{SHORT}[{section}]\nlayres = 1"), &[]);
        let told = format!("run.toml:5:1: `{section}.layres`: unknown field `layres`, expected one of `");
        assert!(error.starts_with(&told), "{error}");
    }
    for (text, key, allowed) in [
        (format!("sede = 2\n{SHORT}"), "sede", "`seed`"),
        (format!("{SHORT}vaild = 'b.csv'"), "vaild", "`valid`"),
        (format!("{SHORT}[mdoel]"), "mdoel", "`model`"),
        (format!("{SHORT}valid = {{ file = 'a.csv', row = '1..2' }}"), "row", "`rows`"),
        (format!("{SHORT}[search]\nhalving = {{ first = 1 }}"), "first", "`first_epochs`"),
        (format!("{SHORT}[search]\nmodel.layers = {{ uniformly = [1, 2] }}"), "uniformly", "{ uniform = "),
    ] {
        let error = error(&text, &[]);
        assert!(error.starts_with("run.toml:") && error.contains(key) && error.contains(allowed), "{error}");
    }
}

#[test]
fn every_choice_names_what_it_may_be() {
    for (section, key, allowed) in [
        ("model", "cell", &["lstm", "dense-relu"][..]),
        ("model", "output", &["propagating", "mean-only"]),
        ("model", "likelihood", &["gaussian", "bernoulli", "heteroscedastic", "categorical"]),
        ("model", "moments", &["accurate", "paper"]),
        ("noise", "kind", &["dropout", "multiplicative", "additive"]),
        ("weights", "posterior", &["point", "ropd", "vb", "bbb"]),
        ("weights", "prior", &["mixture", "learned"]),
        ("training", "optimiser", &["adam", "rmsprop", "adadelta"]),
        ("training", "schedule", &["constant", "cosine", "step", "plateau"]),
        ("training", "padding", &["after", "before"]),
    ] {
        let error = error(&format!("{SHORT}[{section}]\n{key} = 'other'"), &[]);
        assert!(error.starts_with("run.toml:5:") && error.contains(&format!("`{section}.{key}`")), "{error}");
        assert!(allowed.iter().all(|name| error.contains(&format!("`{name}`"))), "{error}");
    }
}

#[test]
fn every_number_has_a_range() {
    for (section, key, value) in [
        ("noise", "between_keep", "2"),
        ("noise", "recurrent_keep", "-1"),
        ("noise", "output_keep", "nan"),
        ("training", "average", "1"),
        ("init", "input_std_dev", "-1"),
        ("init", "recurrent_std_dev", "nan"),
        ("init", "spectral_radius", "inf"),
        ("init", "sparse", "33"),
        ("init", "output_bias", "nan"),
        ("init", "bias_std_dev", "-1"),
        ("init", "weight_std_dev", "0"),
        ("model", "variance_scale_min", "1"),
        ("noise", "input_var", "0.1"),
        ("noise", "output_var", "-1"),
        ("weights", "divergence_weight", "-1"),
        ("weights", "noise_std_dev", "-1"),
        ("weights", "keep", "0"),
        ("weights", "prior_weight", "1"),
        ("weights", "prior_std_dev", "[1, 0]"),
        ("weights", "draws", "0"),
        ("weights", "sharpen_std_dev", "0"),
        ("training", "momentum", "1"),
        ("training", "square_decay", "-0.1"),
        ("training", "schedule_epochs", "0"),
        ("training", "schedule_factor", "2"),
        ("training", "warm_up", "-1"),
        ("training", "batch", "0"),
        ("training", "chunk", "9999999"),
        ("training", "epochs", "0"),
        ("training", "patience", "9999999"),
        ("training", "clip_norm", "-1"),
        ("training", "max_minutes", "0"),
    ] {
        let error = error(&format!("{SHORT}[{section}]\n{key} = {value}"), &[]);
        assert!(
            error.starts_with("run.toml:5:") && error.contains(&format!(": `{section}.{key}` ")),
            "{error}"
        );
    }
}

use super::*;

fn parse(lines: &str) -> Result<Config, String> {
    let text = format!("data = {{ train = \"a.csv\", targets = \"next\" }}\n{lines}");
    Config::parse("test.toml", &text, &[]).map_err(|error| format!("{error:#}"))
}

const VOSP: &str =
    "latent = { family = \"vosp\", latents = 3, prior = \"wiener\" }\n[model]\ncell = \"dense-tanh\"\n";

#[test]
fn a_config_survives_being_written() {
    let config = parse(&format!("{VOSP}[recognition]\nnoise = {{ recurrent_keep = 0.9 }}")).unwrap();
    assert_eq!(Config::parse("again.toml", &config.to_toml().unwrap(), &[]).unwrap(), config);
}

#[test]
fn patience_begins_after_the_warm_up() {
    let config = parse("latent = { family = \"storn\", latents = 1, warm_up = 7.5 }").unwrap();
    assert_eq!(
        (config.stale_epochs(8, 2), config.stale_epochs(12, 2), config.stale_epochs(12, 10)),
        (0, 4, 2)
    );
    assert_eq!(parse("").unwrap().stale_epochs(8, 2), 6);
}

#[test]
fn clean_rows_are_for_a_vosp() {
    let noise = "data = { train = \"a.csv\", targets = \"clean\", noise = { snr_db = 5 } }\n";
    let parse = |lines: &str| {
        Config::parse("test.toml", &format!("{noise}{lines}"), &[]).map_err(|error| format!("{error:#}"))
    };
    let config = parse(&VOSP.replace("family", "divergence_weight = 0.1, family")).unwrap();
    assert_eq!(config.latent.as_ref().unwrap().divergence_weight, 0.1);
    assert_eq!(Config::parse("again.toml", &config.to_toml().unwrap(), &[]).unwrap(), config);
    for family in ["storn", "vrae"] {
        let error = parse(&format!("latent = {{ family = \"{family}\", latents = 1 }}")).unwrap_err();
        assert!(error.contains("`data.targets` \"clean\" with `[latent]` needs"), "{error}");
    }
    for weight in ["0.0", "1.5", "nan"] {
        let error =
            parse(&VOSP.replace("family", &format!("divergence_weight = {weight}, family"))).unwrap_err();
        assert!(error.contains("`latent.divergence_weight` must be above 0 and at most 1"), "{error}");
    }
}

#[test]
fn what_cannot_be_is_explained() {
    let storn = "latent = { family = \"storn\", latents = 1";
    for (lines, expected) in [
        (format!("{storn}, prior = \"wiener\" }}"), "`latent.prior` must be \"white\" for a STORN"),
        (format!("{storn}, prior = \"brown\" }}"), "expected `white` or `wiener`"),
        (format!("{storn}, colour = 1 }}"), "unknown field `colour`"),
        (format!("{storn}, draws = 0 }}"), "`latent.draws` must be from 1 to 1000"),
        (format!("{storn}, warm_up = -1.0 }}"), "`latent.warm_up` must be 0 or above"),
        (format!("{storn}, variance = \"propagated\" }}"), "`latent.variance` \"propagated\" needs a source"),
        (
            format!("{storn}, noise = \"fixed\" }}\n[model]\nlikelihood = \"bernoulli\""),
            "`latent.noise` \"fixed\" needs",
        ),
        (format!("{storn} }}\n[weights]\nposterior = \"vb\""), "`weights.posterior` must be \"point\""),
        (format!("{storn} }}\n[weights]\nposterior = \"bbb\""), "`weights.posterior` must be \"point\""),
        (format!("{storn} }}\n[training]\ncarry_state = true"), "`training.carry_state` does not go with"),
        (format!("{storn} }}\n[training]\npadding = \"before\""), "`training.padding` must be \"after\""),
        (format!("{storn} }}\n[recognition]\nlayers = []"), "`recognition.layers` must list"),
        (
            format!("{storn} }}\n[recognition]\nnoise = {{ input_keep = 2.0 }}"),
            "`recognition.noise.input_keep` must be",
        ),
        ("latent = { family = \"vosp\", latents = 1 }".into(), "`model.cell` must be \"dense-tanh\""),
        (format!("{VOSP}[recognition]\ncell = \"dense-tanh\""), "`recognition.cell` must be \"lstm\""),
        (
            "latent = { family = \"vrae\", latents = 1, direction = \"causal\" }".into(),
            "must be \"bidirectional\" for a VRAE",
        ),
        (
            VOSP.replace("3,", "3, direction = \"bidirectional\","),
            "`latent.direction` must be \"causal\" for a VOSP",
        ),
        (VOSP.replace("family", "max_gap = 5, family"), "`latent.max_gap` needs `latent.family = \"vrae\"`"),
        (
            VOSP.replace("family", "divergence_weight = 0.5, family"),
            "`latent.divergence_weight` must be 1 with `data.targets = \"next\"`",
        ),
        (format!("{VOSP}residual = true"), "`model.residual` needs `latent.family = \"storn\"`"),
        ("recognition = { cell = \"tanh\" }".into(), "`recognition` needs a section `[latent]`"),
        ("latent = { family = \"storn\" }".into(), "missing field `latents`"),
    ] {
        let error = parse(&lines).unwrap_err();
        assert!(error.contains(expected), "{lines}\n{error}");
    }
}

#[test]
fn every_recurrent_cell_is_named_where_one_is_needed() {
    let error = parse(&format!("{VOSP}[recognition]\ncell = \"dense-tanh\"")).unwrap_err();
    for (name, cell) in crate::config::test_cell_names() {
        assert_eq!(error.contains(&format!("\"{name}\"")), cell.is_recurrent(), "{name}: {error}");
    }
}

#[test]
fn gaps_of_a_latent_model_have_their_own_key() {
    let text = format!("data = {{ train = \"a.csv\", targets = \"next\" }}\n{VOSP}");
    let with = |missing: &str| Config::parse("t.toml", &text, &[format!("data.augment.missing={missing}")]);
    let error = format!("{:#}", with("on").unwrap_err());
    assert!(
        error.contains("`data.augment.missing` is for predictors; latent models learn with gaps"),
        "{error}"
    );
    assert!(with("off").is_ok());
}

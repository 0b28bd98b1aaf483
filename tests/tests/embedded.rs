//! Models that are known while compiling: the bits of those that are loaded, for every fixture of one
//! network, and files that do not compile.

use std::sync::{Mutex, PoisonError};

use quaver::{Known, Predictor};
use quaver_streams::fingerprint::words;
use quaver_streams::numbers::Numbers;
use quaver_tests::stream::rough_row;

const STEPS: usize = 60;

/// Steps both through the same rows, uncertain ones among them, and tells both the truth; exchanges their
/// states on the way.
fn compare<K: Known>(mut known: Predictor<'static, '_, K>, bytes: &'static [u8], label: &str) {
    let mut memory = vec![0.0; quaver::arena_words(bytes)];
    let mut loaded = Predictor::load_in(bytes, &mut memory).expect("a fixture loads");
    let spec = loaded.model().spec().clone();
    assert_eq!(known.model().spec(), &spec);
    let mut numbers = Numbers::new(label);
    let bits = |prediction: quaver::Prediction<'_>| words(&prediction).map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(known.prediction()), bits(loaded.prediction()), "before the first row");
    for step in 0..STEPS {
        let row = rough_row(&mut numbers, spec.inputs.into());
        let vars: Vec<f32> = row.iter().map(|_| numbers.between(0.0, 0.5)).collect();
        let vars = if step % 3 == 2 { &vars[..] } else { &[] };
        let expected = bits(loaded.step_uncertain(&row, vars));
        assert_eq!(bits(known.step_uncertain(&row, vars)), expected, "step {step}");
        let truth: Vec<f32> = (0..spec.outputs).map(|_| numbers.signed()).collect();
        known.observe(&truth);
        loaded.observe(&truth);
        if step == STEPS / 2 {
            let mut saved = [vec![0.0; spec.saved_words()], vec![0.0; spec.saved_words()]];
            known.save(&mut saved[0]).expect("its length");
            loaded.save(&mut saved[1]).expect("its length");
            assert_eq!(saved[0], saved[1]);
            known.reset();
            loaded.reset();
            known.restore(&saved[1]).expect("a state of the same model");
            loaded.restore(&saved[0]).expect("a state of the same model");
        }
    }
    assert_eq!(known.implausible_count(), loaded.implausible_count());
    assert_eq!(known.interval(0, 0.9), loaded.interval(0, 0.9));
    assert!(known.check_state().is_ok());
}

macro_rules! same_bits {
    ($($test:ident($file:literal, $seal:literal);)+) => {
        $(
            #[test]
            fn $test() {
                quaver::embed_model! {
                    struct Embedded($file, seal = $seal);
                }
                let mut arena = Embedded::arena();
                assert_eq!(quaver::checkpoint::seal(Embedded::CHECKPOINT), Ok($seal));
                let known = Embedded::start(&mut arena);
                let loaded = quaver::Model::load(Embedded::CHECKPOINT).expect("a fixture loads");
                assert!(Embedded::model().ranges().eq(loaded.ranges()));
                assert_eq!(known.model().recheck().finish(), Ok(()));
                compare(known, Embedded::CHECKPOINT, $file);
            }
        )+

        /// The files that are compared.
        const FILES: &[&str] = &[$($file),+];
    };
}

same_bits! {
    anomaly_fast("../fixtures/anomaly-fast.qvr", 0x69C2_9044_D76C_804C);
    bernoulli_fast("../fixtures/bernoulli-fast.qvr", 0x15F2_F060_8438_763D);
    categorical_small("../fixtures/categorical-small.qvr", 0x3E21_18D0_3BC8_0989);
    demo_grip_force("../fixtures/demo-grip-force.qvr", 0x2BEE_4BDF_BADE_0A39);
    density_last_estimate_small("../fixtures/density-last-estimate-small.qvr", 0xF7F1_913A_0357_2FFB);
    density_next_f32("../fixtures/density-next-f32.qvr", 0xB182_8B5B_BD59_A20D);
    elman_tanh_f32("../fixtures/elman-tanh-f32.qvr", 0x53DE_CD2D_F337_B20C);
    following_density_fast("../fixtures/following-density-fast.qvr", 0x9356_D0E1_F1EA_49A0);
    gru_f32("../fixtures/gru-f32.qvr", 0x7EDC_AC19_80EB_A319);
    gru_fast("../fixtures/gru-fast.qvr", 0x01AC_8B95_F889_D369);
    gru_small("../fixtures/gru-small.qvr", 0xC8C1_8812_E5EC_4767);
    heteroscedastic_next_f32("../fixtures/heteroscedastic-next-f32.qvr", 0x2B7E_F36D_F2A2_A76E);
    linear_all_small("../fixtures/linear-all-small.qvr", 0x77A2_1EED_2ACE_2861);
    linear_alone_next_f32("../fixtures/linear-alone-next-f32.qvr", 0xBA7A_F287_8C23_C304);
    linear_fast("../fixtures/linear-fast.qvr", 0xC430_4279_59FF_70D1);
    lstm_fast("../fixtures/lstm-fast.qvr", 0x3E68_9EA7_1C24_BA02);
    lstm_int8("../fixtures/lstm-int8.qvr", 0x4F1A_6C5F_F87E_9C32);
    lstm_small("../fixtures/lstm-small.qvr", 0xB169_5712_7544_5629);
    means_dense_mean("../fixtures/means-dense-mean.qvr", 0xA21D_8C65_EA5E_7620);
    means_elman_mean("../fixtures/means-elman-mean.qvr", 0xCD0F_2192_6CB2_D260);
    quantiles_fast("../fixtures/quantiles-fast.qvr", 0x3223_B647_20F7_0E07);
    ranges_all_fast("../fixtures/ranges-all-fast.qvr", 0x9281_2DE7_21AD_186A);
    ranges_fast("../fixtures/ranges-fast.qvr", 0x05AF_44B5_7014_C041);
    residual_next_with_gaps_elman_fast("../fixtures/residual-next-with-gaps-elman-fast.qvr", 0xE111_8ACE_93CC_D400);
    tracking_fast("../fixtures/tracking-fast.qvr", 0xB827_6149_2385_114B);
    weight_variance_elman_int8("../fixtures/weight-variance-elman-int8.qvr", 0x294C_E070_0841_AF41);
}

#[test]
fn every_fixture_of_one_network_is_compared() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let path = entry.expect("a fixture").path();
        let bytes = std::fs::read(&path).expect("a fixture");
        if quaver::Model::load(&bytes).is_ok() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(FILES.iter().any(|file| file.ends_with(&name)), "{name} is not compared");
        }
    }
}

/// One at a time: to cargo all packages of this name are one, fresh if its files are older than its check.
static COMPILER: Mutex<()> = Mutex::new(());

/// Whether a macro compiles with a model of these bytes and this seal, and what the compiler says.
fn compile(embed: &str, bytes: &[u8], seal: u64) -> (bool, String) {
    let _one = COMPILER.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).expect("a file");
    let runtime = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime");
    write(
        "Cargo.toml",
        format!(
            "[workspace]\n[package]\nname = \"embedding\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
             [dependencies]\nquaver = {{ path = {runtime:?} }}\n"
        )
        .as_bytes(),
    );
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock"), folder.path().join("Cargo.lock"))
        .expect("the versions of this workspace");
    write("model.qvr", bytes);
    write(
        "lib.rs",
        format!("quaver::{embed}! {{\n    pub struct Embedded(\"model.qvr\", seal = {seal});\n}}\n")
            .as_bytes(),
    );
    let output = std::process::Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline", "--target-dir"])
        .arg(concat!(env!("CARGO_TARGET_TMPDIR"), "/embedding"))
        .current_dir(folder.path())
        .output()
        .expect("cargo runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_damaged_or_exchanged_file_does_not_compile() {
    let bytes = include_bytes!("../fixtures/lstm-fast.qvr");
    let seal = quaver::checkpoint::seal(bytes).expect("a fixture");
    let (compiles, said) = compile("embed_model", bytes, seal);
    assert!(compiles, "{said}");
    let mut damaged = bytes.to_vec();
    damaged[bytes.len() / 2] ^= 4;
    let exchanged = include_bytes!("../fixtures/gru-fast.qvr");
    for other in [&damaged[..], exchanged, &bytes[..bytes.len() - 1]] {
        let (compiles, said) = compile("embed_model", other, seal);
        assert!(!compiles && said.contains("export it again"), "{said}");
    }
}

#[test]
fn a_file_of_another_kind_does_not_compile_even_with_its_seal() {
    let files: [(&str, &str, &[u8]); 3] = [
        ("embed_model", "of a predictor", include_bytes!("../fixtures/lstm-fast.qvr")),
        ("embed_denoiser", "of a denoiser", include_bytes!("../fixtures/denoiser-follow-fast.qvr")),
        ("embed_sampler", "of a sampler", include_bytes!("../fixtures/sampler-follow-small.qvr")),
    ];
    for (embed, kind, _) in files {
        for (own, _, bytes) in files {
            let (compiles, said) = compile(embed, bytes, quaver::checkpoint::seal(bytes).expect("a fixture"));
            assert_eq!(compiles, embed == own, "{embed} with the file for {own}: {said}");
            assert!(compiles || said.contains(&format!("this is not the checkpoint {kind}")), "{said}");
        }
    }
    let (_, _, denoiser) = files[1];
    let mut damaged = denoiser.to_vec();
    damaged[denoiser.len() / 2] ^= 4;
    let seal = quaver::checkpoint::seal(denoiser).expect("a fixture");
    let (compiles, said) = compile("embed_denoiser", &damaged, seal);
    assert!(!compiles && said.contains("export it again"), "{said}");
}

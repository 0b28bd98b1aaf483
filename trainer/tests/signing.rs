//! `quaver keygen`, `sign` and `verify` as a user sees them: files, errors, and what is refused.

mod place;

use std::fs;
use std::path::{Path, PathBuf};

use place::{fails, json, succeeds};
use tempfile::TempDir;

/// A folder with a pair of keys, `ours`, and a signed denoiser with the counter 7, `model.qvs`.
struct Signed {
    folder: TempDir,
}

fn example(name: &str) -> String {
    format!("{}/../runtime/examples/{name}.qvr", env!("CARGO_MANIFEST_DIR"))
}

impl Signed {
    fn new() -> Self {
        let signed = Signed { folder: tempfile::tempdir().expect("a temporary folder") };
        succeeds(&["keygen", "--out", &signed.at("ours")]);
        signed.sign("denoiser", "7", "model.qvs");
        signed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), bytes).expect("a writable folder");
        self.at(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    fn sign(&self, model: &str, counter: &str, name: &str) -> String {
        let key = self.at("ours.key");
        succeeds(&["sign", &example(model), "--key", &key, "--counter", counter, "-o", &self.at(name)])
    }

    fn refused(&self, signed: &str, key: &str, names: &[&str]) {
        let output = self.at("refused.qvr");
        fails(&["verify", signed, "--key", key, "-o", &output], names);
        assert!(!Path::new(&output).exists(), "what is refused is not written");
    }
}

#[test]
fn a_signed_model_is_verified_and_comes_out_as_it_went_in() {
    let signed = Signed::new();
    for (model, kind) in [("denoiser", "latent"), ("sampler", "latent"), ("grip_force", "predictor")] {
        let printed = signed.sign(model, "4000000000", "other.qvs");
        let plain = fs::read(example(model)).expect("an example");
        assert!(printed.contains(&format!("{} bytes, counter 4000000000", plain.len() + 80)), "{printed}");
        let (key, output) = (signed.at("ours.pub"), signed.at("out.qvr"));
        let verify = ["verify", &signed.at("other.qvs"), "--key", &key, "-o", &output];
        assert!(succeeds(&verify).contains(kind));
        assert_eq!(signed.read("out.qvr"), plain);
        let shown = json(&succeeds(&[&verify[..], &["--json"]].concat()));
        assert_eq!(shown["counter"], 4_000_000_000_u32);
        assert_eq!(shown["kind"], kind);
        assert_eq!(shown["checkpoint_bytes"], plain.len());
        let public = String::from_utf8(signed.read("ours.pub")).expect("text");
        assert_eq!(
            public,
            format!("quaver public key 1\n{}\n", shown["public_key"].as_str().expect("digits"))
        );
    }
}

#[test]
fn keys_are_new_files_and_the_secret_one_is_its_owners() {
    let signed = Signed::new();
    let before = signed.read("ours.key");
    fails(&["keygen", "--out", &signed.at("ours")], &["ours.key", "never overwritten"]);
    assert_eq!(signed.read("ours.key"), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(signed.path("ours.key")).expect("a key").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let rust = String::from_utf8(signed.read("ours.rs")).expect("text");
    assert!(rust.contains("pub const PUBLIC_KEY: quaver::signed::PublicKey"), "{rust}");
    assert_eq!(rust.matches("0x").count(), 32, "{rust}");
    // One file of the three is in the way: no other is written.
    signed.write("half.pub", "");
    fails(&["keygen", "--out", &signed.at("half")], &["half.pub"]);
    assert!(!signed.path("half.key").exists() && !signed.path("half.rs").exists());
    fails(&["keygen", "--out", &signed.at("nowhere/ours")], &["ours.key"]);
    let printed = succeeds(&["keygen", "--out", &signed.at("v1.2")]);
    assert!(printed.contains("v1.2.pub") && signed.path("v1.2.key").exists(), "{printed}");
}

#[test]
fn tampered_truncated_and_foreign_files_are_refused() {
    let signed = Signed::new();
    let (key, envelope) = (signed.at("ours.pub"), signed.read("model.qvs"));
    for index in (0..envelope.len()).step_by(61) {
        let mut changed = envelope.clone();
        changed[index] ^= 0x10;
        signed.refused(&signed.write("changed.qvs", changed), &key, &["changed.qvs is refused"]);
    }
    for (length, named) in [(0, "magic"), (79, "80 bytes expected, 79 found"), (900, "truncated")] {
        signed.refused(&signed.write("short.qvs", &envelope[..length]), &key, &["short.qvs", named]);
    }
    signed.refused(&example("denoiser"), &key, &["denoiser.qvr", "without a signature", "quaver sign"]);
    signed.refused(&signed.at("absent.qvs"), &key, &["absent.qvs"]);
    succeeds(&["keygen", "--out", &signed.at("theirs")]);
    signed.refused(&signed.at("model.qvs"), &signed.at("theirs.pub"), &["signed with another key"]);
}

#[test]
fn older_counters_are_refused() {
    let signed = Signed::new();
    let (model, key) = (signed.at("model.qvs"), signed.at("ours.pub"));
    succeeds(&["verify", &model, "--key", &key, "--least-counter", "7"]);
    fails(&["verify", &model, "--key", &key, "--least-counter", "8"], &["counter is 7", "below 8"]);
    fails(&["sign", &example("denoiser"), "--key", &key, "--counter", "-1", "-o", &model], &["--counter"]);
}

#[test]
fn key_files_that_are_swapped_or_broken_are_named() {
    let signed = Signed::new();
    let (model, secret, public) = (signed.at("model.qvs"), signed.at("ours.key"), signed.at("ours.pub"));
    signed.refused(&model, &secret, &["ours.key", "holds a secret key"]);
    let sign = |model: &str, key: &str, names: &[&str]| {
        let output = signed.at("new.qvs");
        fails(&["sign", model, "--key", key, "--counter", "1", "-o", &output], names);
        assert!(!Path::new(&output).exists(), "nothing is written");
    };
    let plain = example("denoiser");
    sign(&plain, &public, &["ours.pub", "holds a public key", ".key"]);
    sign(&plain, &signed.at("absent.key"), &["absent.key"]);
    sign(&plain, &plain, &["denoiser.qvr is not a usable key file", "quaver keygen"]);
    signed.refused(
        &model,
        &signed.write("a.pub", "quaver public key 1\n00\n"),
        &["a.pub", "2 hexadecimal digits"],
    );
    let small_order = format!("quaver public key 1\n{}\n", "00".repeat(32));
    signed.refused(&model, &signed.write("b.pub", small_order), &["b.pub", "small order"]);
    // What is no checkpoint is not signed, and neither is an envelope.
    sign(&public, &secret, &["ours.pub is not a usable checkpoint"]);
    sign(&model, &secret, &["model.qvs is a signed checkpoint"]);
    // Neither the model nor the key is overwritten.
    let before = signed.read("ours.key");
    fails(&["sign", &plain, "--key", &secret, "--counter", "1", "-o", &secret], &["ours.key", "own input"]);
    fails(&["verify", &model, "--key", &public, "-o", &model], &["model.qvs", "own input"]);
    assert_eq!(signed.read("ours.key"), before);
}

#[cfg(unix)]
#[test]
fn a_secret_key_that_others_can_read_is_warned_about() {
    use std::os::unix::fs::PermissionsExt;
    let signed = Signed::new();
    let (key, output) = (signed.at("ours.key"), signed.at("new.qvs"));
    let arguments = ["sign", &example("denoiser"), "--key", &key, "--counter", "1", "-o", &output];
    assert!(place::run(&arguments).stderr.is_empty());
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("our file");
    let warned = place::run(&arguments);
    assert!(warned.status.success());
    assert!(String::from_utf8_lossy(&warned.stderr).contains("others can read the secret key"));
}

#[test]
fn other_commands_name_a_signed_file_and_what_to_do() {
    let signed = Signed::new();
    let model = signed.at("model.qvs");
    let rows = signed.write("rows.csv", "hip,knee,ankle\n1,2,3\n");
    let named = ["model.qvs is a signed checkpoint", "quaver verify"];
    fails(&["inspect", &model], &named);
    fails(&["run", &model, "--input", &rows], &named);
    fails(&["denoise", &model, "--input", &rows], &named);
    fails(&["sample", &model, "--prefix", &rows, "--steps", "2"], &named);
    fails(&["adapt", &model, "--in", &rows], &named);
    fails(&["eval", &model, "--data", &rows], &named);
    fails(&["convert", &model, "-o", &signed.at("new.qvr")], &named);
}

//! Names of files that usually hold secrets.
//!
//! A **secret file** is known by its name alone: reading the content to find out would be the very thing that is to be
//! asked first. Invariant: names are compared like protected ones, in their most forgiving form, and what only documents
//! or builds secrets (`.env.example`, `id_rsa.pub`, `credentials.ts`) isn't one.

use super::protected::folded;

/// Folders that hold nothing else.
const FOLDERS: [&str; 12] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".gcloud",
    ".docker",
    ".oci",
    ".password-store",
    ".secrets",
    "secrets",
    ".vault",
];
/// Files whose whole name says it.
const FILES: [&str; 53] = [
    ".npmrc",
    ".yarnrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".git-credentials",
    ".htpasswd",
    ".htdigest",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    ".vault_pass",
    ".terraformrc",
    "terraform.rc",
    ".boto",
    ".s3cfg",
    ".envrc",
    ".flaskenv",
    ".token",
    ".tokens",
    "auth.json",
    "kubeconfig",
    "shadow",
    "gshadow",
    "logins.json",
    "key3.db",
    "key4.db",
    "login data",
    "wallet.dat",
    "service-account.json",
    "application_default_credentials.json",
    "accesstokens.json",
    "serviceaccountkey.json",
    "service_account_key.json",
    "rootkey.csv",
    "accesskeys.csv",
    "access_keys.csv",
    ".aws_credentials",
    ".renviron",
    ".bash_history",
    ".zsh_history",
    ".psql_history",
    ".mysql_history",
    "wp-config.php",
    "local.settings.json",
    "cookies.sqlite",
    "private_key.txt",
    "privatekey.txt",
    "recovery-codes.txt",
];
/// Ends of names that keys, stores of keys and states with passwords have.
const ENDS: [&str; 26] = [
    "pem",
    "key",
    "asc",
    "p12",
    "pfx",
    "p8",
    "ppk",
    "jks",
    "jceks",
    "bks",
    "keystore",
    "kdbx",
    "kdb",
    "agilekeychain",
    "keychain",
    "keychain-db",
    "ovpn",
    "kubeconfig",
    "env",
    "tfstate",
    "tfvars",
    "gpg",
    "pgp",
    "age",
    "enc",
    "mobileconfig",
];
/// Stems that say it wherever the end is that of data; `secret` and `secrets` do with every end.
const STEMS: [&str; 17] = [
    "credential",
    "credentials",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "apikey",
    "apikeys",
    "api_key",
    "api_keys",
    "api-keys",
    "token",
    "tokens",
    "密码",
    "密钥",
    "口令",
    "凭据",
];
/// Ends of data that such a stem may have.
const DATA: [&str; 19] = [
    "",
    "txt",
    "json",
    "yaml",
    "yml",
    "toml",
    "ini",
    "cfg",
    "conf",
    "config",
    "properties",
    "xml",
    "csv",
    "tsv",
    "md",
    "doc",
    "docx",
    "xls",
    "xlsx",
];
/// What stands for values that aren't there.
const EXAMPLES: [&str; 7] = ["example", "sample", "template", "tmpl", "dist", "defaults", "schema"];

/// Does this path, by its name or a folder on it, hold secrets? Reading such a file is worth a question, and what was
/// read from it a memory. `path` is relative with `/` between its parts, as in facts.
#[must_use]
pub fn is_secret(path: &str) -> bool {
    let parts: Vec<String> = path.split('/').map(folded).collect();
    let Some((name, folders)) = parts.split_last() else { return false };
    let inside = folders.iter().any(|folder| FOLDERS.contains(&folder.as_str()));
    let google = folders.iter().any(|folder| folder == "gcloud");
    let github = name == "hosts.yml" && folders.last().is_some_and(|folder| folder == "gh");
    inside || google || github || FOLDERS.contains(&name.as_str()) || is_secret_name(name)
}

/// The name that a copy, which editors and people leave beside it, was made from: `credentials (1).json`, `.env.bak`.
fn original(name: &str) -> String {
    let bare = ["~", ".bak", ".old", ".orig", ".save", ".swp", ".backup", ".copy"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let (stem, end) = match bare.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() => (stem, Some(end)),
        Some(_) | None => (bare, None),
    };
    let copies = ["copy", "old", "backup", "bak", "new"];
    let marks = |stem: &str| {
        let numbered = stem.strip_suffix(')').and_then(|open| open.rsplit_once(" ("));
        let numbered =
            numbered.filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit())).map(|(stem, _)| stem.to_owned());
        let worded = stem.rsplit_once(['-', '_', ' ']).filter(|(_, last)| copies.contains(last));
        numbered.or_else(|| worded.map(|(stem, _)| stem.to_owned()))
    };
    let stem = marks(stem).unwrap_or_else(|| stem.to_owned());
    end.map_or(stem.clone(), |end| format!("{stem}.{end}"))
}

/// Does a stem say that what follows is secret: as a whole, by its last word, or in Chinese anywhere?
fn says(stem: &str) -> bool {
    let stem = stem.trim_start_matches('.');
    let last = stem.rsplit(['-', '_', ' ']).next().unwrap_or(stem);
    STEMS.contains(&stem)
        || matches!(last, "passwords" | "credentials" | "passwd" | "secrets" | "apikeys")
        || STEMS.iter().filter(|word| !word.is_ascii()).any(|word| stem.contains(word))
}

fn is_secret_name(name: &str) -> bool {
    let pieces: Vec<&str> = name.split('.').collect();
    if pieces.iter().skip(1).any(|piece| EXAMPLES.contains(piece)) || name.ends_with(".pub") {
        return false;
    }
    let plain = original(name);
    let bare = plain.as_str();
    let (stem, end) = bare.rsplit_once('.').unwrap_or((bare, ""));
    let dotted =
        bare == ".env" || bare.starts_with(".env.") || bare.starts_with(".env-") || bare.starts_with(".env_");
    let key = bare.starts_with("id_") && !bare.contains('.');
    let first = bare.trim_start_matches('.').split('.').next().unwrap_or(bare);
    dotted
        || key
        || FILES.contains(&bare)
        || (!stem.is_empty() && ENDS.contains(&end))
        || matches!(first, "secret" | "secrets")
        || (says(stem) && DATA.contains(&end))
        || (end == "json"
            && (bare.starts_with("appsettings.") || bare.contains("adminsdk"))
            && bare != "appsettings.json")
        || (end == "json" && matches!(stem.rsplit(['-', '_']).next(), Some("key" | "keys")))
        || (bare.starts_with("env.")
            && matches!(end, "local" | "development" | "production" | "staging" | "test"))
        || (end == "txt" && (stem.starts_with("id_") || stem.ends_with(".env")))
        || ((bare.starts_with("service-account")
            || bare.starts_with("service_account")
            || bare.starts_with("client_secret"))
            && end == "json")
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[track_caller]
    fn check(paths: &[&str], expect: bool) {
        let wrong: Vec<&&str> = paths.iter().filter(|path| is_secret(path) != expect).collect();
        assert!(wrong.is_empty(), "should be {expect}: {wrong:?}");
    }

    #[test]
    fn a43_files_that_hold_secrets_are_known_by_name() {
        check(
            &[
                ".env",
                ".env.local",
                ".env.production",
                ".env-old",
                "prod.env",
                "deep/er/.env",
                ".ENV",
                ".Env.Local",
                ".env ",
                ".env.",
                ".env::$DATA",
                ".e\u{200b}nv",
                "\u{feff}.env",
                ".en\u{301}v",
                "\u{2024}env",
                ".\u{ff45}\u{ff4e}\u{ff56}",
                ".envrc",
                ".flaskenv",
                ".env.bak",
                ".env~",
                ".env.local.bak",
                "server.pem",
                "tls/cert.PEM",
                "private.key",
                "x.p12",
                "x.pfx",
                "AuthKey_1.p8",
                "x.ppk",
                "x.jks",
                "release.keystore",
                "my.kdbx",
                "home.ovpn",
                "terraform.tfstate",
                "prod.tfvars",
                "id_rsa",
                "id_ed25519",
                "id_work",
                "ID_RSA",
                "keys/id_ecdsa",
                "serviceAccountKey.json",
                "firebase-adminsdk-ab.json",
                "gcp-key.json",
                "rootkey.csv",
                "accessKeys.csv",
                "access_keys.csv",
                ".aws_credentials",
                ".config/gh/hosts.yml",
                "credentials (1).json",
                "credentials-copy.json",
                "id_rsa.txt",
                "prod.env.txt",
                "env.local",
                "passwords_old.txt",
                "my-passwords.txt",
                "账号密码.xlsx",
                "密码本.txt",
                "private_key.txt",
                "key.asc",
                "recovery-codes.txt",
                "wp-config.php",
                "appsettings.Production.json",
                "local.settings.json",
                ".Renviron",
                ".bash_history",
                "cookies.sqlite",
                "id_rsa.bak",
                ".npmrc",
                ".netrc",
                "_netrc",
                ".pypirc",
                ".pgpass",
                ".git-credentials",
                ".htpasswd",
                ".dockercfg",
                "auth.json",
                "kubeconfig",
                "credentials",
                "credentials.json",
                ".cargo/credentials.toml",
                "Credentials.yml",
                "secrets.yaml",
                "secrets.toml",
                "secret.json",
                "secrets",
                "SECRETS.ENV",
                "secrets.py",
                "config/secrets.yml.enc",
                "passwords.txt",
                "password",
                "Passwords.xlsx",
                "密码.txt",
                "密钥.docx",
                "tokens.json",
                ".token",
                "api_keys.ini",
                ".aws/credentials",
                ".aws/config",
                ".ssh/config",
                ".ssh/anything",
                ".SSH/known",
                ".gnupg/x",
                ".kube/config",
                ".docker/config.json",
                ".config/gcloud/legacy",
                "secrets/anything.txt",
                ".ssh",
                ".aws",
                "service-account-prod.json",
                "client_secret_12.apps.json",
                "logins.json",
                "backup.gpg",
            ],
            true,
        );
    }

    #[test]
    fn a43_ordinary_files_are_no_secrets() {
        check(
            &[
                ".",
                "src/main.rs",
                "README.md",
                ".env.example",
                ".env.sample",
                ".env.local.template",
                "id_rsa.pub",
                "id_generator.rs",
                "id_map.json",
                "environment.ts",
                "env",
                "env.rs",
                "src/env/mod.rs",
                "credentials.ts",
                "password.rs",
                "PasswordField.svelte",
                "token.rs",
                "tokens.css",
                "tokenizer.json",
                "keys.rs",
                "key",
                "keyboard.md",
                "monkey.png",
                "docs/secretary.md",
                "a.environment",
                "kubernetes.md",
                "pem.rs",
                "docker/Dockerfile",
                "aws/lambda.py",
                "ssh/readme",
                "secrets.example.toml",
                "credentials.schema.json",
                "notes/passwords-policy.md",
                ".gitignore",
                ".github/workflows/x.yml",
                "Cargo.toml",
                "auth.ts",
                "shadow.css",
                "你好.md",
                "a/gcloud.md",
            ],
            false,
        );
    }
}

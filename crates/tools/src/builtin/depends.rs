//! What a command runs beside its own words: scripts it names, and the file a runner obeys.
//!
//! An approval, and a permission for one exact command, hold these files by their content: a script that changes asks
//! again. Invariant: a file that is too large or one too many to hold is named as not held, and then no permission for
//! the command is given or obeyed.

use crate::path::RelPath;
use crate::tool::Ctx;
use domain::call::Facts;
use domain::digest::Digest;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Most files whose content is part of what is approved.
const MAX_FILES: usize = 32;
/// Largest such file.
const FILE_BYTES: u64 = 8 << 20;
/// Most words that are looked at as names; the one after them is named as not held, cut to so many characters.
const MAX_WORDS: usize = 2_000;
const SHOWN: usize = 60;
/// Most folders a command names in which its files are looked for.
const MAX_FOLDERS: usize = 8;

/// The wording fact that lists files a command names and that aren't held by their content.
pub(crate) const UNHELD: &str = "not_held";

/// Files a command depends on.
pub(super) struct Depends {
    pub(super) files: BTreeMap<String, Digest>,
    pub(super) unheld: Vec<String>,
}

/// What a command depends on, as the folder is now.
pub(super) fn depends(command: &str, ctx: &Ctx) -> Depends {
    let mut words = pieces(command);
    let more = words.get(MAX_WORDS).map(|word| word.chars().take(SHOWN).collect::<String>());
    words.truncate(MAX_WORDS);
    let is_folder = |word: &&&str| {
        ctx.find(word).is_ok_and(|(place, path)| place.metadata(&path).is_ok_and(|meta| meta.is_dir()))
    };
    let folders: Vec<&str> = words.iter().filter(is_folder).take(MAX_FOLDERS).copied().collect();
    let mut out = Depends { files: BTreeMap::new(), unheld: more.into_iter().collect() };
    let names = candidates(&words);
    let below = folders.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}")));
    for path in names.iter().cloned().chain(below) {
        let Ok((place, path)) = ctx.find(&path) else { continue };
        let Some(meta) = place.metadata(&path).ok().filter(cap_std::fs::Metadata::is_file) else {
            continue;
        };
        if out.files.contains_key(&place.say(&path)) {
            continue;
        }
        let fits = meta.len() <= FILE_BYTES && out.files.len() < MAX_FILES;
        match fits.then(|| crate::save::Current::read(&place, &path, FILE_BYTES)) {
            Some(Ok(current)) => drop(out.files.insert(place.say(&path), current.digest)),
            Some(Err(_)) | None => out.unheld.push(place.say(&path)),
        }
    }
    out
}

/// Those of a call's files that these words depend on; nothing where not all of them are held.
pub(crate) fn held(words: &[String], facts: &Facts) -> Option<BTreeMap<String, Digest>> {
    if facts.words.contains_key(UNHELD) {
        return None;
    }
    let words: Vec<&str> = words.iter().flat_map(|word| pieces(word)).collect();
    // One of an added folder is said in full.
    let tidy = |path: &str| RelPath::parse(path).map_or_else(|_| path.to_owned(), |path| path.to_string());
    let names: HashSet<String> = candidates(&words).iter().map(|name| tidy(name)).collect();
    let folders: HashSet<String> = words.iter().map(|word| tidy(word)).collect();
    let below = |path: &str| {
        let apart = |(at, _): (usize, &str)| Some((path.get(..at)?, path.get(at + 1..)?));
        path.match_indices('/')
            .filter_map(apart)
            .any(|(folder, name)| folders.contains(folder) && names.contains(name))
    };
    let own = facts.depends_on.iter().filter(|(path, _)| names.contains(*path) || below(path));
    Some(own.map(|(path, digest)| (path.clone(), *digest)).collect())
}

/// Whatever could be a name in it.
fn pieces(command: &str) -> Vec<&str> {
    let apart = |ch: char| ch.is_whitespace() || "\"'`;|&<>(){}=$,".contains(ch);
    command.split(apart).filter(|word| !word.is_empty()).collect()
}

/// Names that the words give.
fn candidates(words: &[&str]) -> BTreeSet<String> {
    let modules = words.windows(2).filter(|pair| pair.first() == Some(&"-m"));
    let modules = modules.filter_map(|pair| pair.last()).map(|name| name.replace('.', "/"));
    let modules = modules.flat_map(|name| [format!("{name}.py"), format!("{name}/__main__.py")]);
    let obeyed = words.iter().flat_map(|word| obeyed(word)).map(|name| (*name).to_owned());
    let bare = |word: &&&str| !word.contains('.') && !word.starts_with('-');
    let scripts = words.iter().filter(bare).map(|word| format!("{word}.js"));
    words.iter().map(|word| (*word).to_owned()).chain(obeyed).chain(modules).chain(scripts).collect()
}

/// The files a runner obeys without being told.
fn obeyed(program: &str) -> &'static [&'static str] {
    match program.rsplit(['/', '\\']).next().unwrap_or(program) {
        "npm" | "pnpm" | "yarn" | "bun" | "npx" | "node" => &["package.json"],
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "just" => &["justfile", "Justfile", ".justfile"],
        "task" => &["Taskfile.yml", "Taskfile.yaml"],
        "rake" => &["Rakefile", "rakefile"],
        "composer" => &["composer.json"],
        "deno" => &["deno.json", "deno.jsonc"],
        "tox" | "nox" => &["tox.ini", "noxfile.py"],
        "gradlew" | "gradle" => &["build.gradle", "build.gradle.kts"],
        "pytest" => &["conftest.py"],
        _ => &[],
    }
}

//! The guided tour: a sample project and a scripted model, through the real engine, tools, approvals and differences.
//!
//! It says of itself that no AI is involved. Each answer of the script names how many came before it, so a tour goes on
//! where it was after any restart. Invariant: the files lie in our own data folder, so a tour touches nothing of the person's.

use providers::{Script, ScriptError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The scripted model's provider.
pub const PROVIDER: &str = "tour";
/// Languages there are scripts for; also the models' names.
pub const LANGUAGES: [&str; 2] = ["en", "zh-CN"];

struct Told {
    script: &'static str,
    folder: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const ENGLISH: Told = Told {
    script: include_str!("assets/tour/en.json"),
    folder: "Lantern Bakery",
    files: &[
        ("menu.md", include_str!("assets/tour/en/menu.md")),
        ("note-from-maria.txt", include_str!("assets/tour/en/note-from-maria.txt")),
        ("todo.md", include_str!("assets/tour/en/todo.md")),
    ],
};

const CHINESE: Told = Told {
    script: include_str!("assets/tour/zh-CN.json"),
    folder: "灯笼面包房",
    files: &[
        ("menu.md", include_str!("assets/tour/zh-CN/menu.md")),
        ("玛丽的留言.txt", include_str!("assets/tour/zh-CN/玛丽的留言.txt")),
        ("待办.md", include_str!("assets/tour/zh-CN/待办.md")),
    ],
};

fn told(language: &str) -> &'static Told {
    if language == LANGUAGES[1] { &CHINESE } else { &ENGLISH }
}

/// The script in this language.
///
/// # Errors
/// When it isn't a script: a mistake of ours that a test finds.
pub fn script(language: &str) -> Result<Script, ScriptError> {
    Script::parse(told(language).script)
}

/// Lays out a fresh sample project below `data` and gives its path.
///
/// # Errors
/// When it can't be written.
pub fn lay_out(data: &Path, language: &str, name: &str) -> io::Result<PathBuf> {
    let told = told(language);
    let folder = data.join("tour").join(name).join(told.folder);
    fs::create_dir_all(&folder)?;
    for (name, text) in told.files {
        fs::write(folder.join(name), text)?;
    }
    folder.canonicalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_script_whose_words_stand_in_its_files() {
        for language in LANGUAGES {
            let script = script(language).expect("a script");
            let data = tempfile::tempdir().expect("a folder");
            let folder = lay_out(data.path(), language, "one").expect("laid out");
            let menu = fs::read_to_string(folder.join("menu.md")).expect("a menu");
            let calls = script
                .answers
                .iter()
                .flat_map(|answer| answer.say.iter().flatten())
                .filter_map(|piece| piece.call.as_ref());
            let mut edits = 0;
            for call in calls {
                if let Some(path) = call.arguments["path"].as_str() {
                    assert!(folder.join(path).exists(), "{language}: {path}");
                }
                if call.name == "edit_file" {
                    let old = call.arguments["old_text"].as_str().expect("a text");
                    assert_eq!(menu.matches(old).count(), 1, "{language}");
                    edits += 1;
                }
            }
            assert_eq!(edits, 1);
            let words = told(language).script;
            assert!(words.contains("No AI is involved") || words.contains("没有任何 AI 参与"));
        }
    }
}

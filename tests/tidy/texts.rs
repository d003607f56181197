//! Both languages: the catalogue of the page has the same keys in English and Chinese, and each really is its language.
//!
//! A missing key is already a type error of the page; this rule sees a catalogue that was never made, and words left
//! untranslated.

use crate::tree;

fn is_han(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// The keys of every object literal, with the keys they lie under, however the text is laid out.
fn keys(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(char, String)> = Vec::new();
    let (mut word, mut before) = (String::new(), ' ');
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'/') => while rest.next().is_some_and(|c| c != '\n') {},
            '/' if rest.peek() == Some(&'*') => {
                let mut last = ' ';
                while let Some(c) = rest.next().filter(|c| !(last == '*' && *c == '/')) {
                    last = c;
                }
            }
            '\'' | '"' | '`' => {
                let quoted = string(&mut rest, c);
                // A quoted key, or a text.
                word = if rest.peek() == Some(&':') { quoted } else { String::new() };
            }
            _ if c.is_alphanumeric() || c == '_' || c == '$' => word.push(c),
            _ if c.is_whitespace() => {}
            ':' if open.last().is_some_and(|(bracket, _)| *bracket == '{') && "{,".contains(before) => {
                let path: Vec<&str> =
                    open.iter().map(|(_, key)| key.as_str()).chain([word.as_str()]).collect();
                found.push(path.join("."));
                before = ':';
            }
            _ => {
                match c {
                    '{' | '(' | '[' => open.push((c, std::mem::take(&mut word))),
                    '}' | ')' | ']' => drop(open.pop()),
                    _ => {}
                }
                before = c;
                word.clear();
            }
        }
    }
    found.sort();
    found
}

/// The rest of a text in quotes; what a template puts in is passed over.
fn string(rest: &mut impl Iterator<Item = char>, quote: char) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            _ if c == quote => break,
            _ => text.push(c),
        }
    }
    text
}

#[test]
fn keys_are_found_in_every_layout() {
    let flat = "export const en = { a: { b: 'x: y', c: (n: number) => `${n}, z: 1` }, 'd/e': [{ f: 1 }] };";
    let tall = "export const zh: Texts = {\n  a: {\n    /** it isn't: */ b: 'p', // q: r\n    c: (n) => `${n}`,\n  },\n  'd/e': [{ f: 2 }],\n};";
    assert_eq!(keys(flat), keys(tall));
    assert_eq!(keys(flat).len(), 5, "{:?}", keys(flat));
    assert_ne!(keys(flat), keys(&tall.replace("b: 'p', ", "")));
}

#[test]
fn both_languages_have_every_text() {
    for part in ["added", "changes", "composer", "permissions"] {
        let of = |language: &str| keys(&tree::read(&format!("ui/src/texts/{language}.{part}.ts")));
        assert_eq!(of("en"), of("zh"), "{part}");
    }
    let (english, chinese) = (tree::read("ui/src/texts/en.ts"), tree::read("ui/src/texts/zh.ts"));
    let (of_english, of_chinese) = (keys(&english), keys(&chinese));
    assert!(of_english.len() > 40, "only {} texts were found", of_english.len());
    assert_eq!(of_english, of_chinese);
    assert!(chinese.contains(": Texts"), "the Chinese catalogue is checked against the English one's type");
    let han = chinese.chars().filter(|c| is_han(*c)).count();
    assert!(han > 200, "the Chinese catalogue has {han} Chinese characters");
    let strays: Vec<&str> = english.lines().filter(|line| line.chars().any(is_han)).collect();
    assert!(strays.is_empty(), "Chinese in the English catalogue: {strays:#?}");
}

#[test]
fn no_words_for_people_stand_outside_the_catalogue() {
    let broken: Vec<String> = tree::files()
        .iter()
        .filter(|file| file.path.starts_with("ui/src/") && file.is(&[".svelte"]))
        // The name of a language is written in that language.
        .filter(|file| file.text.replace("简体中文", "").chars().any(is_han))
        .map(|file| file.path.clone())
        .collect();
    tree::none("components with words of their own", &broken);
}

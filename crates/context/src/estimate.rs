//! Token estimates, good enough to show and to plan with; what was really used is what the provider reports.
//!
//! About 4 bytes of English and 1.5 characters of Chinese, Japanese or Korean make a token. The estimate errs upwards.

/// Estimated tokens of this text.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    let (mut narrow, mut wide) = (0_u64, 0_u64);
    for ch in text.chars() {
        if ch < '\u{2e80}' {
            narrow += ch.len_utf8() as u64;
        } else {
            wide += 1;
        }
    }
    narrow.div_ceil(4) + (wide * 2).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn counts_words_and_characters() {
        for (text, least, most) in [("", 0, 0), ("Hello, world.", 3, 5), ("整理我的发票文件夹", 5, 9)]
        {
            let got = tokens(text);
            assert!((least..=most).contains(&got), "{text}: {got}");
        }
    }
}

//! The **language** of what is said outside the page: the tray's menu and the system's notifications.
//!
//! The person's choice in the settings decides; where that is the system's own, the system is asked.

/// A language everything is worded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Chinese,
}

impl Language {
    /// The one the settings name: `en`, `zh-CN` or `system`.
    pub(crate) fn of_setting(setting: &str) -> Self {
        match setting {
            "zh-CN" => Language::Chinese,
            "en" => Language::English,
            _ => Language::of_system(),
        }
    }

    /// The system's own.
    pub(crate) fn of_system() -> Self {
        Language::of_locale(sys_locale::get_locale().as_deref())
    }

    fn of_locale(locale: Option<&str>) -> Self {
        match locale {
            Some(name) if name.starts_with("zh") => Language::Chinese,
            _ => Language::English,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_language_is_read_from_its_locale() {
        for (locale, language) in [
            (None, Language::English),
            (Some("C.UTF-8"), Language::English),
            (Some("zh_CN.UTF-8"), Language::Chinese),
            (Some("zh_TW"), Language::Chinese),
        ] {
            assert_eq!(Language::of_locale(locale), language, "{locale:?}");
        }
    }

    #[test]
    fn the_persons_choice_comes_first() {
        assert_eq!(Language::of_setting("zh-CN"), Language::Chinese);
        assert_eq!(Language::of_setting("en"), Language::English);
        assert_eq!(Language::of_setting("system"), Language::of_system());
    }
}

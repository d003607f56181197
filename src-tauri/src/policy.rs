//! The content policy of the page as it is really sent: the configured one, with the isolation frame's own scheme put
//! in place of the closed `frame-src`.
//!
//! The scheme has a random part that is made with each build, so the configuration can't name it. Invariant: no
//! directive ever names a network address, and only the isolation frame can be framed.

use tauri::utils::config::{Csp, CspDirectiveSources};
use tauri::{Context, Pattern};

/// Opens `frame-src` for the isolation frame, and for nothing else.
pub(crate) fn admit_isolation_frame(context: &mut Context) -> anyhow::Result<()> {
    let Pattern::Isolation { schema, .. } = context.pattern() else {
        anyhow::bail!("this build has no isolation frame");
    };
    let frame = if cfg!(windows) { format!("http://{schema}.localhost") } else { format!("{schema}:") };
    match context.config_mut().app.security.csp.as_mut() {
        Some(Csp::DirectiveMap(policy)) => {
            policy.insert("frame-src".into(), CspDirectiveSources::Inline(frame));
            Ok(())
        }
        _ => anyhow::bail!("the content policy is not configured directive by directive"),
    }
}

/// The context the window is built from.
pub(crate) fn context() -> anyhow::Result<Context> {
    let mut context = tauri::generate_context!();
    admit_isolation_frame(&mut context)?;
    Ok(context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tauri::utils::acl::capability::Capability;
    use tauri::utils::config::{CapabilityEntry, DisabledCspModificationKind, PatternKind};

    fn built() -> Context {
        context().unwrap()
    }

    fn directives(context: &Context) -> BTreeMap<String, String> {
        let Some(Csp::DirectiveMap(policy)) = context.config().app.security.csp.clone() else {
            panic!("no policy")
        };
        let text = |sources: CspDirectiveSources| match sources {
            CspDirectiveSources::Inline(one) => one,
            CspDirectiveSources::List(many) => many.join(" "),
        };
        policy.into_iter().map(|(name, sources)| (name, text(sources))).collect()
    }

    #[test]
    fn the_policy_is_the_baseline_and_nothing_more() {
        let context = built();
        let Pattern::Isolation { schema, .. } = context.pattern() else { panic!("no isolation") };
        let frame = if cfg!(windows) { format!("http://{schema}.localhost") } else { format!("{schema}:") };
        let found = directives(&context);
        let style = found["style-src"].clone();
        let expected = [
            ("base-uri", "'none'"),
            ("connect-src", "ipc: http://ipc.localhost"),
            ("default-src", "'self'"),
            ("font-src", "'self'"),
            ("form-action", "'none'"),
            ("frame-src", frame.as_str()),
            ("img-src", "'self' blob: data:"),
            ("object-src", "'none'"),
            ("script-src", "'self'"),
            ("style-src", style.as_str()),
        ];
        let expected: BTreeMap<String, String> =
            expected.into_iter().map(|(name, sources)| (name.into(), sources.into())).collect();
        assert_eq!(found, expected);
        // The one style the toolkit adds, by its digest, hides the isolation frame.
        assert!(style.starts_with("'self' 'sha256-") && style.split(' ').count() == 2, "{style}");
    }

    #[test]
    fn a47_no_directive_lets_a_picture_font_or_request_leave() {
        for (name, sources) in directives(&built()) {
            for source in sources.split(' ') {
                let local = source.starts_with('\'')
                    || ["blob:", "data:", "ipc:", "http://ipc.localhost"].contains(&source)
                    || (name == "frame-src" && source.contains("isolation-"));
                assert!(local, "{name} allows {source}");
                assert!(!source.contains("unsafe"), "{name} allows {source}");
            }
        }
    }

    #[test]
    fn the_page_is_given_no_power_beyond_four_commands() {
        let context = built();
        let security = &context.config().app.security;
        assert!(!context.config().app.with_global_tauri);
        assert!(security.freeze_prototype);
        assert!(!security.asset_protocol.enable);
        assert_eq!(
            security.dangerous_disable_asset_csp_modification,
            DisabledCspModificationKind::Flag(false)
        );
        assert!(matches!(security.pattern, PatternKind::Isolation { .. }));
        assert!(
            matches!(security.capabilities.as_slice(), [CapabilityEntry::Reference(name)] if name == "main")
        );
        let capability: Capability = serde_json::from_str(include_str!("../capabilities/main.json")).unwrap();
        assert!(capability.remote.is_none());
        assert_eq!(capability.windows, ["main"]);
        let permissions: Vec<String> = serde_json::to_value(&capability.permissions)
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|permission| permission.as_str().unwrap_or("scoped").to_owned())
            .collect();
        assert_eq!(permissions, ["allow-call", "allow-subscribe", "allow-ack", "allow-unsubscribe"]);
    }

    #[test]
    fn the_window_is_as_the_design_and_the_baseline_ask() {
        let context = built();
        let [window] = context.config().app.windows.as_slice() else { panic!("one window") };
        assert_eq!((window.label.as_str(), window.create), ("main", false));
        assert_eq!((window.min_width, window.min_height), (Some(480.0), Some(560.0)));
        assert_eq!(window.devtools, Some(false));
        assert!(!window.browser_extensions_enabled);
        assert!(!window.zoom_hotkeys_enabled);
    }

    #[test]
    fn no_capability_file_lies_beside_the_one() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("capabilities");
        let names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["main.json"]);
    }
}

//! What a model writes into a call is data: every shape of it is checked before any tool looks at it.
//!
//! Invariant: no tool is asked about arguments that its schema doesn't allow, whatever types its own code would take.

use super::rig::Rig;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A value of each kind that JSON has.
fn kinds() -> Vec<Value> {
    vec![json!(null), json!(true), json!(-1), json!(1.5), json!("text"), json!(["x"]), json!({"x": 1})]
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a kind that this test doesn't know: {other}"),
    }
}

/// Arguments that hold what the schema demands.
fn demanded(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten();
    let sample = |field: &Value| match field["type"].as_str().expect("a kind") {
        "integer" => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        _ => field["enum"].get(0).cloned().unwrap_or(json!("x")),
    };
    required
        .map(|name| name.as_str().expect("a name"))
        .map(|name| (name.to_owned(), sample(&schema["properties"][name])))
        .collect()
}

#[test]
fn r_tool_10_each_argument_of_each_tool_is_refused_in_every_wrong_kind() {
    let rig = Rig::new();
    let mut tried = 0;
    for spec in rig.visible.specs() {
        let demanded = demanded(&spec.schema);
        for (name, field) in spec.schema["properties"].as_object().expect("fields") {
            let kind = field["type"].as_str().expect("a kind");
            for wrong in kinds().into_iter().filter(|value| !is_of(kind, value)) {
                let mut arguments = demanded.clone();
                arguments.insert(name.clone(), wrong.clone());
                let arguments = Value::Object(arguments).to_string();
                let error = rig.visible.check(&spec.name, &arguments).err().map(|error| error.code);
                assert_eq!(error.as_deref(), Some("arguments/invalid"), "{} {arguments}", spec.name);
                tried += 1;
            }
        }
        // Nothing at all is no arguments; anything else that holds none is a mistake.
        for whole in kinds().into_iter().filter(|value| !value.is_object() && !value.is_null()) {
            assert!(rig.visible.check(&spec.name, &whole.to_string()).is_err(), "{} {whole}", spec.name);
        }
    }
    assert!(tried > 100, "{tried}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("(path|content|command|action|items|\\PC{0,6})", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is taken fits the schema word for word, and the tool's own types can read it; nothing makes either panic.
    #[test]
    fn r_tool_10_what_is_taken_can_be_read_by_the_tools_own_types(given in any_json()) {
        let rig = Rig::new();
        for spec in rig.visible.specs() {
            let Ok(call) = rig.visible.check(&spec.name, &given.to_string()) else { continue };
            let taken: Value = serde_json::from_str(call.arguments()).expect("canonical");
            let fits = jsonschema::validator_for(&spec.schema).expect("a schema").is_valid(&taken);
            prop_assert!(fits, "{} {given}", spec.name);
            let code = call.survey(&rig.ctx).err().map(|error| error.code);
            prop_assert!(code.as_deref() != Some("arguments/invalid"), "{} {given}", spec.name);
        }
    }
}

//! The state: its clock, its bits, its files.

use stiction_geometry::Feature;
use stiction_geometry::planar;
use stiction_multibody::{
    BodyBuilder, ContactId, ContactMemory, ContactMode, Dimension, LayerMemory, Model, ModelBuilder, State,
};

/// A model with two shapes, for contact ids.
fn model() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let disc = || planar::Shape::disc(0.5).unwrap().into();
    builder.body(BodyBuilder::planar("a", 1.0, 1.0).shape(disc())).unwrap();
    builder.body(BodyBuilder::planar("b", 1.0, 1.0).position(3.0, 0.0, 0.0).shape(disc())).unwrap();
    builder.build().unwrap()
}

fn odd_state() -> State {
    let model = model();
    let ids: Vec<_> = model.shapes().map(|(id, ..)| id).collect();
    let memory = |feature, mode, normal_impulse| ContactMemory {
        id: ContactId { shape_a: ids[0], shape_b: ids[1], feature: Feature::new(feature, u32::MAX) },
        mode,
        point: [0.3, -0.0, 1e-300],
        normal_impulse,
        friction_impulse: [0.1 * normal_impulse, -0.0, 5e-324],
        spin_impulse: 1.0 / 3.0,
        rolling_impulse: [0.1, 0.0, -1e-300],
        pending_restitution: -normal_impulse,
        layer: (feature == 1).then_some(LayerMemory {
            compression: -0.0,
            shear: [5e-324, 1.0 / 3.0, -1e-300],
            energy: 0.1,
            core_impulse: 1e23,
            core_friction: [-0.0, 0.2, 1e-310],
            core_spin: -5e-324,
        }),
    };
    State {
        step: u64::MAX,
        time: 0.1 + 0.2,
        time_carry: -1.387_778_780_781_445_7e-17,
        q: vec![-0.0, 5e-324, 1.0 / 3.0, f64::MIN_POSITIVE / 3.0, 1.797e308, -1e-300],
        v: vec![0.0, -5e-324, 1e23, 2.0_f64.sqrt(), 123_456_789.123_456_78, -0.1],
        contacts: vec![
            memory(0, ContactMode::Slip, -0.0),
            memory(1, ContactMode::Open, 1e-310),
            memory(u32::MAX, ContactMode::Stick, 0.1),
        ],
        joint_impulses: vec![-0.0, 1e-310, 0.1],
        support_impulses: vec![0.1, -0.0, 1e-310],
        forest_q: vec![-0.0, 0.3],
        forest_v: vec![1e-310, -7.0 / 3.0],
        angles: vec![-0.0, 100.0 / 3.0],
    }
}

#[test]
fn text_round_trip_keeps_every_bit() {
    let state = odd_state();
    let text = serde_json::to_string(&state).unwrap();
    let back: State = serde_json::from_str(&text).unwrap();
    assert!(back.bit_equal(&state), "{text}");
}

#[test]
fn unknown_and_missing_fields_are_refused() {
    let text = serde_json::to_string(&odd_state()).unwrap();
    let extra = text.replacen('{', "{\"energy\": 1.0, ", 1);
    assert!(serde_json::from_str::<State>(&extra).unwrap_err().to_string().contains("energy"));
    let missing = text.replacen("\"time_carry\"", "\"carry\"", 1);
    assert!(serde_json::from_str::<State>(&missing).is_err());
}

/// A saved state without the field of supports is a state without supports.
#[test]
fn states_without_supports_read_and_write_as_before() {
    let state = State { support_impulses: Vec::new(), ..odd_state() };
    let text = serde_json::to_string(&state).unwrap();
    assert!(!text.contains("support"), "{text}");
    assert!(serde_json::from_str::<State>(&text).unwrap().bit_equal(&state));
}

/// A saved state without the field of layers is a state without layers.
#[test]
fn states_without_layers_read_and_write_as_before() {
    let mut state = odd_state();
    state.contacts.iter_mut().for_each(|contact| contact.layer = None);
    let text = serde_json::to_string(&state).unwrap();
    assert!(!text.contains("layer"), "{text}");
    assert!(serde_json::from_str::<State>(&text).unwrap().bit_equal(&state));
}

/// Every number of the state is compared, and zeros with their sign.
#[test]
fn bit_equality_sees_every_field() {
    let state = odd_state();
    assert!(state.bit_equal(&state.clone()));
    let layer = |s: &mut State, change: fn(&mut LayerMemory)| s.contacts[1].layer.iter_mut().for_each(change);
    let changes: [&dyn Fn(&mut State); 21] = [
        &|s: &mut State| s.step -= 1,
        &|s: &mut State| s.time = s.time.next_up(),
        &|s: &mut State| s.time_carry = -s.time_carry,
        &|s: &mut State| s.q[0] = 0.0,
        &|s: &mut State| s.q[1] = 0.0,
        &|s: &mut State| s.q.truncate(5),
        &|s: &mut State| s.v[0] = -0.0,
        &|s: &mut State| s.v[3] = s.v[3].next_down(),
        &|s: &mut State| s.v.push(0.0),
        &|s: &mut State| s.contacts[0].normal_impulse = 0.0,
        &|s: &mut State| s.contacts[1].mode = ContactMode::Stick,
        &|s: &mut State| s.contacts[2].id.feature = Feature::new(2, 2),
        &|s: &mut State| s.contacts.truncate(2),
        &|s: &mut State| s.support_impulses[1] = 0.0,
        &|s: &mut State| s.support_impulses.clear(),
        &|s: &mut State| s.contacts[1].layer = None,
        &|s: &mut State| s.contacts[0].layer = Some(LayerMemory::default()),
        &|s: &mut State| layer(s, |layer| layer.compression = 0.0),
        &|s: &mut State| layer(s, |layer| layer.shear[0] = 0.0),
        &|s: &mut State| layer(s, |layer| layer.core_friction[0] = 0.0),
        &|s: &mut State| layer(s, |layer| layer.core_spin = 0.0),
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut other = state.clone();
        change(&mut other);
        assert!(!other.bit_equal(&state), "change {index} was not seen");
        other.copy_from(&state);
        assert!(other.bit_equal(&state), "change {index} was not undone by copy_from");
    }
}

/// 0.1 is not a binary number; a naive clock is off by 1.3e-6 s after a million steps.
#[test]
fn a_million_steps_end_where_they_should() {
    let mut state = State::default();
    let mut naive = 0.0;
    for _ in 0..1_000_000 {
        state.advance_time(0.1);
        naive += 0.1;
    }
    assert!((state.time - 1e5).abs() <= 1e5 * f64::EPSILON, "{}", state.time);
    assert!((naive - 1e5_f64).abs() > 1e-7, "the naive clock would do as well");
}

#[test]
fn the_first_number_that_is_not_finite_is_found() {
    let mut state = odd_state();
    assert_eq!(state.first_non_finite(), None);
    state.v[2] = f64::INFINITY;
    assert_eq!(state.first_non_finite(), Some(8));
    state.q[5] = f64::NAN;
    assert_eq!(state.first_non_finite(), Some(5));
}

//! Specifications (`p3.h`) in product functions: where the versions have reached the places of one back to back,
//! the runtime is asked to evaluate it. It says whether the product is to end, as it does for
//! [`LockstepChecks`].

use super::lockstep_checks::LockstepChecks;
use crate::llvm::{self, Builder, Types, Value};
use crate::spec::{self, Spec};

impl LockstepChecks<'_, '_> {
    /// Evaluates the specification whose `places` (`struct p3_place`, one per version of `versions`) have just been
    /// reached; returns a builder for what follows.
    pub(super) fn evaluate_spec(
        &self,
        builder: Builder,
        versions: &[usize],
        places: Vec<Value>,
    ) -> Builder {
        let present: u64 = versions.iter().map(|&version| 1 << version).sum();
        let named = places
            .iter()
            .filter_map(|&place| Spec::of(place))
            .map(|spec| spec.named);
        if named.fold(0, |all, one| all | one) & !present != 0 {
            return builder;
        }
        let known = self.meetings.borrow().get(&places).copied();
        let meeting = known.unwrap_or_else(|| {
            let meeting = self.meeting(present, versions, &places);
            self.meetings.borrow_mut().insert(places, meeting);
            meeting
        });
        self.ask(&builder, "p3_spec_evaluate", &[meeting])
    }

    /// A `struct p3_meeting`: versions, how often evaluated and failed, a place per version.
    fn meeting(&self, present: u64, versions: &[usize], places: &[Value]) -> Value {
        let types = Types::of(self.module);
        let mut all = vec![types.pointer().zero(); self.count];
        for (&version, &place) in versions.iter().zip(places) {
            all[version] = place;
        }
        let fields = [
            types.constant(32, present),
            types.constant(64, 0),
            types.constant(64, 0),
            types.array(types.pointer(), &all),
        ];
        let initial = types.constant_structure(&fields);
        let meeting = llvm::add_global(self.module, spec::MEETING, initial.ty());
        meeting.set_initializer(initial);
        meeting.set_internal();
        meeting
    }
}

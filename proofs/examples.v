(** The definitions at work, so that a reader sees them mean what they should. *)
From stdpp Require Import gmap list.
From iris.prelude Require Import prelude options.
From bailiwick Require Import model sources.

(** A share registered at 100; job 7 of owner 2 runs from 130 to 190; a second
    stop comes late and finds nothing to close. *)
Definition day : list event :=
  [Register 0 100; start 0 7 2 130; stop 0 7 190; stop 0 7 195].

Example day_counters :
  counter (state_after day) idle = 30 ∧ counter (state_after day) 2 = 60 ∧
  total (state_after day) = 90.
Proof. by vm_compute. Qed.

Example day_owners :
  owners_after day !! (0, 99) = None ∧ owners_after day !! (0, 100) = Some idle ∧
  owners_after day !! (0, 129) = Some idle ∧ owners_after day !! (0, 130) = Some 2 ∧
  owners_after day !! (0, 189) = Some 2 ∧ owners_after day !! (0, 190) = None.
Proof. by vm_compute. Qed.

(** A preemption and a report that is late: the victim is charged to 150, the
    late failure at 140 charges nothing, and takes the share away. *)
Definition rough_day : list event :=
  [Register 0 100; start 0 7 2 130; preempt 0 7 8 3 150; fail 0 140; recover 0 170].

Example rough_day_counters :
  (counter (state_after rough_day) <$> [idle; unavailable; 2; 3]) = [30; 20; 20; 0].
Proof. by vm_compute. Qed.

(** What the aggregator answers, message by message. *)
Fixpoint answers (A : aggregator) (ms : list message) : list answer :=
  match ms with [] => [] | m :: ms => judge A m :: answers (receive A m) ms end.

Example every_answer :
  let first := Message 0 0 0 (Register 0 100) in
  let second := Message 0 0 1 (start 0 7 2 130) in
  let lie := Message 0 0 1 (start 0 7 3 130) in
  let restarted := Message 0 1 0 (stop 0 7 190) in
  let leftover := Message 0 0 2 (stop 0 7 150) in
  answers nothing_yet [second; first; second; first; lie; restarted; leftover; second]
    = [Early; Accepted; Accepted; Duplicate; Conflict; Accepted; Fenced; Duplicate].
Proof. by vm_compute. Qed.

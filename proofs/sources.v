(** Many sources, one ledger.

    A node agent (a source) numbers its events 0, 1, 2, ... and takes a new,
    higher epoch when it restarts.  The network between a source and the
    aggregator may lose, repeat, delay and reorder; a source repeats an event
    until it is acknowledged.  So a delivery schedule is simply a list of
    messages, in any order, each any number of times or never, and the theorems
    below speak about every such list.

    The aggregator accepts the next number of a source's newest epoch and nothing
    else.  Only what it accepts reaches the ledger, and only what is in the
    ledger is acknowledged: commit first, then acknowledge. *)
From stdpp Require Import gmap list.
From iris.prelude Require Import prelude options.
From bailiwick Require Import model.

(** ** Messages *)
Notation source := nat (only parsing).
Notation key := (source * nat * nat)%type (only parsing).   (* source, epoch, sequence number *)

Record message := Message {
  from : source;
  epoch : nat;
  number : nat;
  payload : event;
}.
Global Instance message_eq_dec : EqDecision message.
Proof. solve_decision. Defined.

Definition key_of (m : message) : key := (from m, epoch m, number m).

(** ** The aggregator *)
Record aggregator := Aggregator {
  book : ledger;
  journal : list message;                      (* what was accepted, oldest first *)
  known : gmap key event;                      (* the same, by key *)
  place : gmap source (nat * nat);             (* newest epoch, next number in it *)
}.

Definition nothing_yet : aggregator := Aggregator no_shares [] ∅ ∅.

Inductive answer :=
  | Accepted                                   (* committed now; acknowledge *)
  | Duplicate                                  (* committed before; acknowledge again *)
  | Conflict                                   (* this key was used for another payload *)
  | Early                                      (* an earlier number is missing: send it first *)
  | Fenced.                                    (* the source has a newer epoch *)
Global Instance answer_eq_dec : EqDecision answer.
Proof. solve_decision. Defined.

Definition acknowledged (a : answer) : bool :=
  match a with Accepted | Duplicate => true | _ => false end.

(** Is this the next number of the source's newest epoch, or the first of a
    newer one? *)
Definition is_next (p : option (nat * nat)) (m : message) : bool :=
  match p with
  | None => bool_decide (number m = 0)
  | Some (e, n) => bool_decide
      (epoch m = e ∧ number m = n ∨ e < epoch m ∧ number m = 0)
  end.

Definition is_old (p : option (nat * nat)) (m : message) : bool :=
  match p with None => false | Some (e, _) => bool_decide (epoch m < e) end.

Definition judge (A : aggregator) (m : message) : answer :=
  match known A !! key_of m with
  | Some e => if decide (e = payload m) then Duplicate else Conflict
  | None =>
      if is_next (place A !! from m) m then Accepted
      else if is_old (place A !! from m) m then Fenced
      else Early
  end.

Definition commit (A : aggregator) (m : message) : aggregator :=
  Aggregator (step (book A) (payload m)) (journal A ++ [m])
    (<[key_of m := payload m]> (known A)) (<[from m := (epoch m, S (number m))]> (place A)).

Definition receive (A : aggregator) (m : message) : aggregator :=
  match judge A m with Accepted => commit A m | _ => A end.

Definition replay (A : aggregator) (ms : list message) : aggregator := foldl receive A ms.

(** The state after any delivery schedule. *)
Definition after (ms : list message) : aggregator := replay nothing_yet ms.

(** ** The invariant *)
Record consistent (A : aggregator) : Prop := Consistent {
  (* the ledger is the journal, applied once each, in order *)
  ok_book : book A = state_after (payload <$> journal A);
  ok_known : ∀ s e n x, known A !! (s, e, n) = Some x ↔ Message s e n x ∈ journal A;
  (* a source's newest epoch is the newest in the journal, and its numbers are
     all there up to the next one *)
  ok_newest : ∀ m, m ∈ journal A →
    ∃ e n, place A !! from m = Some (e, n) ∧ (epoch m < e ∨ epoch m = e ∧ number m < n);
  ok_unique : NoDup (key_of <$> journal A);
}.

Lemma known_in_journal A m :
  consistent A → known A !! key_of m = Some (payload m) ↔ m ∈ journal A.
Proof. intros HA. destruct m as [s e n x]. apply (ok_known _ HA). Qed.

Lemma consistent_empty : consistent nothing_yet.
Proof.
  split; simpl; [done|..].
  - intros. rewrite lookup_empty. split; [done|]. by intros ?%elem_of_nil.
  - by intros m ?%elem_of_nil.
  - apply NoDup_nil_2.
Qed.

Lemma judge_accepted A m :
  judge A m = Accepted → known A !! key_of m = None ∧ is_next (place A !! from m) m = true.
Proof. unfold judge. by repeat case_match. Qed.

Lemma consistent_receive A m : consistent A → consistent (receive A m).
Proof.
  intros HA. unfold receive. destruct (judge A m) eqn:Hj; try done.
  apply judge_accepted in Hj as [Hnew Hnext]. destruct HA as [Hb Hk Hn Hu]. split; simpl.
  - rewrite Hb fmap_app. unfold state_after. by rewrite run_app.
  - intros s e n x. rewrite elem_of_app elem_of_list_singleton lookup_insert_Some Hk.
    destruct m as [s' e' n' x']; unfold key_of in *; simpl in *. split.
    + intros [[[= <- <- <-] <-]|[_ ?]]; [by right|by left].
    + intros [Hin|[= -> -> -> ->]]; [|by left]. right. split; [|done].
      intros [= -> -> ->]. apply Hk in Hin. congruence.
  - intros m' [Hin|Hin]%elem_of_app.
    2: { apply elem_of_list_singleton in Hin as ->. rewrite lookup_insert. eexists _, _. split; [done|]. right. lia. }
    destruct (Hn _ Hin) as (e & n & Hp & Hlt).
    destruct (decide (from m' = from m)) as [Hf|Hf].
    + rewrite Hf in Hp. rewrite Hf lookup_insert. rewrite Hp /= in Hnext.
      apply bool_decide_eq_true_1 in Hnext. eexists _, _. split; [done|]. lia.
    + rewrite lookup_insert_ne //. eauto.
  - rewrite fmap_app. apply NoDup_app. split; [done|]. split; [|apply NoDup_singleton].
    intros k Hin Hk'. apply elem_of_list_singleton in Hk' as ->. apply elem_of_list_fmap in Hin as (m' & Hm' & Hin).
    rewrite Hm' in Hnew. apply (known_in_journal A m') in Hin; [by simplify_eq|by split].
Qed.

Lemma consistent_replay A ms : consistent A → consistent (replay A ms).
Proof.
  revert A. induction ms as [|m ms IH]; intros A HA; [done|]. simpl.
  by apply IH, consistent_receive.
Qed.

Lemma consistent_after ms : consistent (after ms).
Proof. apply consistent_replay, consistent_empty. Qed.

(** ** Theorems, for every delivery schedule *)

(** The ledger is each accepted event applied exactly once, in journal order;
    every theorem of [model] therefore holds of it. *)
Theorem ledger_is_the_journal ms :
  book (after ms) = state_after (payload <$> journal (after ms)) ∧
  NoDup (key_of <$> journal (after ms)).
Proof. split; apply consistent_after. Qed.

Lemma replay_app A p q : replay A (p ++ q) = replay (replay A p) q.
Proof. apply foldl_app. Qed.

(** Replaying a prefix and then the rest is replaying the whole. *)
Theorem prefix_then_rest p q : after (p ++ q) = replay (after p) q.
Proof. apply replay_app. Qed.

(** A message that is in the journal is a duplicate for ever, and changes nothing. *)
Lemma judge_duplicate A m : consistent A → judge A m = Duplicate ↔ m ∈ journal A.
Proof.
  intros HA. rewrite -known_in_journal //. unfold judge.
  destruct (known A !! key_of m) as [x|].
  - case_decide; naive_solver.
  - repeat case_match; naive_solver.
Qed.

Lemma receive_known A m : consistent A → m ∈ journal A → receive A m = A.
Proof. intros HA Hm%judge_duplicate; [|done]. unfold receive. by rewrite Hm. Qed.

Lemma journal_receive A m : journal A `prefix_of` journal (receive A m).
Proof. unfold receive. destruct (judge A m); try done. by apply prefix_app_r. Qed.

Lemma journal_replay A ms : journal A `prefix_of` journal (replay A ms).
Proof.
  revert A. induction ms as [|m ms IH]; intros A; [done|]. simpl.
  etrans; [apply journal_receive|apply IH].
Qed.

(** An acknowledged event is in the journal, hence in the ledger, and stays. *)
Theorem acknowledged_is_committed ms m later :
  acknowledged (judge (after ms) m) = true → m ∈ journal (after (ms ++ m :: later)).
Proof.
  intros Ha. rewrite prefix_then_rest. simpl.
  eapply elem_of_prefix; [|apply journal_replay].
  destruct (judge (after ms) m) eqn:Hj; try done.
  - unfold receive. rewrite Hj. simpl. apply elem_of_app. right. by left.
  - apply judge_duplicate in Hj; [|apply consistent_after].
    rewrite receive_known //. apply consistent_after.
Qed.

(** And what is not acknowledged at a delivery changes nothing there. *)
Theorem unacknowledged_changes_nothing A m :
  acknowledged (judge A m) = false → receive A m = A.
Proof. unfold receive. by destruct (judge A m). Qed.

(** Repeating anything already acknowledged, at any later moment and in any
    number, changes nothing: lost acknowledgements and retries are harmless. *)
Theorem repeats_change_nothing A ms :
  consistent A → Forall (λ m, m ∈ journal A) ms → replay A ms = A.
Proof.
  intros HA Hms. induction Hms as [|m ms Hm _ IH]; [done|].
  simpl. by rewrite receive_known.
Qed.

(** Deliver a message twice in a row: the second delivery changes nothing. *)
Theorem receive_is_idempotent A m : consistent A → receive (receive A m) m = receive A m.
Proof.
  intros HA. unfold receive at 2 3. destruct (judge A m) eqn:Hj.
  - apply receive_known.
    + pose proof (consistent_receive A m HA) as H. unfold receive in H. by rewrite Hj in H.
    + simpl. apply elem_of_app. right. by left.
  - unfold receive. by rewrite Hj.
  - unfold receive. by rewrite Hj.
  - unfold receive. by rewrite Hj.
  - unfold receive. by rewrite Hj.
Qed.

(** A crash loses nothing that was acknowledged: feeding the journal to an empty
    aggregator rebuilds the very same state, positions and ledger included. *)
Lemma recover_step A m :
  replay nothing_yet (journal A) = A →
  replay nothing_yet (journal (receive A m)) = receive A m.
Proof.
  intros HA. unfold receive. destruct (judge A m) eqn:Hj; try done.
  simpl. rewrite replay_app HA /=. unfold receive. by rewrite Hj.
Qed.

Theorem recovery_is_exact ms : after (journal (after ms)) = after ms.
Proof.
  unfold after. induction ms as [|m ms IH] using rev_ind; [done|].
  rewrite replay_app /=. by apply recover_step.
Qed.

(** Crash at any moment, recover from the journal, let the sources send whatever
    they like again: the same as if there had been no crash. *)
Theorem crash_and_resume ms later :
  after (journal (after ms) ++ later) = after (ms ++ later).
Proof. by rewrite !prefix_then_rest recovery_is_exact. Qed.

(** Same key, other payload: a conflict, reported at every delivery, and not billed. *)
Theorem conflict_is_reported ms m m' :
  m ∈ journal (after ms) → key_of m' = key_of m → payload m' ≠ payload m →
  judge (after ms) m' = Conflict ∧ receive (after ms) m' = after ms.
Proof.
  intros Hm Hk Hp. apply known_in_journal in Hm; [|apply consistent_after].
  assert (judge (after ms) m' = Conflict) as Hj.
  { unfold judge. by rewrite Hk Hm decide_False. }
  split; [done|]. unfold receive. by rewrite Hj.
Qed.

Theorem conflict_is_never_billed ms m m' :
  m ∈ journal (after ms) → key_of m' = key_of m → payload m' ≠ payload m →
  ∀ later, m' ∉ journal (after (ms ++ later)).
Proof.
  intros Hm Hk Hp later Hm'. rewrite prefix_then_rest in Hm'.
  assert (consistent (replay (after ms) later)) as HA.
  { apply consistent_replay, consistent_after. }
  apply known_in_journal in Hm'; [|done].
  assert (m ∈ journal (replay (after ms) later)) as Hm2.
  { eapply elem_of_prefix; [done|apply journal_replay]. }
  apply known_in_journal in Hm2; [|done]. rewrite Hk in Hm'. congruence.
Qed.

(** An old epoch is fenced: once a newer one has begun, nothing new from the
    older one is accepted. *)
Theorem old_epochs_are_fenced ms m m' :
  m ∈ journal (after ms) → from m' = from m → epoch m' < epoch m →
  judge (after ms) m' ≠ Accepted.
Proof.
  intros Hm Hf He Hj. apply judge_accepted in Hj as [_ Hn].
  destruct (ok_newest _ (consistent_after ms) _ Hm) as (e & n & Hp & Hlt).
  rewrite Hf Hp /= in Hn. apply bool_decide_eq_true_1 in Hn. lia.
Qed.

(** ** Order within a source *)
Definition precedes (m m' : message) : Prop :=
  epoch m < epoch m' ∨ epoch m = epoch m' ∧ number m < number m'.

(** What the journal holds of one epoch of one source, and of one source. *)
Definition stream (s : source) (e : nat) (l : list message) : list message :=
  filter (λ m, from m = s ∧ epoch m = e) l.
Definition of_source (s : source) (l : list message) : list message :=
  filter (λ m, from m = s) l.

Record ordered (A : aggregator) : Prop := Ordered {
  ok_order : ∀ i i' m m', i < i' → journal A !! i = Some m → journal A !! i' = Some m' →
    from m = from m' → precedes m m';
  ok_numbers : ∀ s e, number <$> stream s e (journal A) = seq 0 (length (stream s e (journal A)));
  ok_place : ∀ s e n, place A !! s = Some (e, n) → length (stream s e (journal A)) = n;
}.

Lemma ordered_empty : ordered nothing_yet.
Proof. split; [|done|]; intros *; simpl; [done|]. by rewrite lookup_empty. Qed.

Lemma stream_snoc s e l m :
  stream s e (l ++ [m]) =
    stream s e l ++ (if decide (from m = s ∧ epoch m = e) then [m] else []).
Proof. unfold stream. rewrite filter_app filter_cons filter_nil. by repeat case_decide. Qed.

Lemma stream_empty A s e :
  consistent A →
  (∀ e' n, place A !! s = Some (e', n) → e' < e) → stream s e (journal A) = [].
Proof.
  intros HA Hp. destruct (stream s e (journal A)) as [|m l] eqn:Hs; [done|]. exfalso.
  assert (m ∈ stream s e (journal A)) as Hm by (rewrite Hs; by left).
  apply elem_of_list_filter in Hm as [[<- <-] Hm].
  destruct (ok_newest _ HA _ Hm) as (e' & n & Hpl & Hlt). apply Hp in Hpl. lia.
Qed.

(** What is accepted continues its epoch's stream. *)
Lemma next_continues A m :
  consistent A → ordered A → is_next (place A !! from m) m = true →
  number m = length (stream (from m) (epoch m) (journal A)).
Proof.
  intros HA HO Hn. destruct (place A !! from m) as [[e n]|] eqn:Hp; simpl in Hn.
  - apply bool_decide_eq_true_1 in Hn as [[-> ->]|[Hlt ->]].
    + symmetry. by apply (ok_place _ HO).
    + rewrite stream_empty //. intros e' n' Hp'. by simplify_eq.
  - apply bool_decide_eq_true_1 in Hn as ->.
    rewrite stream_empty //. intros e' n' Hp'. by simplify_eq.
Qed.

Lemma lookup_snoc_Some (l : list message) m i x :
  (l ++ [m]) !! i = Some x → i < length l ∧ l !! i = Some x ∨ i = length l ∧ m = x.
Proof.
  intros [Hx|[Hi Hx]]%lookup_app_Some.
  - left. split; [by eapply lookup_lt_Some|done].
  - apply list_lookup_singleton_Some in Hx as [? <-]. right. split; [lia|done].
Qed.

Lemma ordered_receive A m : consistent A → ordered A → ordered (receive A m).
Proof.
  intros HA HO. unfold receive. destruct (judge A m) eqn:Hj; try done.
  apply judge_accepted in Hj as [_ Hnext].
  pose proof (next_continues _ _ HA HO Hnext) as Hnum.
  destruct HO as [Hord Hnos Hpl]. split; simpl.
  - intros i i' m1 m2 Hlt H1 H2 Hf.
    apply lookup_snoc_Some in H2 as [[Hi' H2]|[Hi' <-]].
    + apply lookup_snoc_Some in H1 as [[Hi H1]|[Hi <-]]; [by apply (Hord i i')|lia].
    + apply lookup_snoc_Some in H1 as [[Hi H1]|[Hi <-]]; [|lia].
      destruct (ok_newest _ HA m1) as (e & n & Hp & Hold); [by eapply elem_of_list_lookup_2|].
      rewrite Hf in Hp. rewrite Hp /= in Hnext. apply bool_decide_eq_true_1 in Hnext.
      unfold precedes. lia.
  - intros s e. rewrite stream_snoc. case_decide as Hm; [|by rewrite app_nil_r].
    destruct Hm as [<- <-]. rewrite fmap_app Hnos app_length seq_app /=. by rewrite Hnum.
  - intros s e n. rewrite stream_snoc.
    intros [[<- [= <- <-]]|[Hne Hp]]%lookup_insert_Some.
    + rewrite decide_True // app_length /=. lia.
    + rewrite decide_False; [|naive_solver]. rewrite app_nil_r. by apply Hpl.
Qed.

Lemma ordered_after ms : ordered (after ms).
Proof.
  induction ms as [|m ms IH] using rev_ind; [apply ordered_empty|].
  rewrite prefix_then_rest /=. apply ordered_receive; [apply consistent_after|done].
Qed.

(** Two events of one source stand in the journal in the order of their epoch
    and number, whatever the order of delivery was. *)
Theorem source_order_is_kept ms i i' m m' :
  i < i' → journal (after ms) !! i = Some m → journal (after ms) !! i' = Some m' →
  from m = from m' → precedes m m'.
Proof. apply (ok_order _ (ordered_after ms)). Qed.

(** Of each epoch of each source the journal holds the numbers 0, 1, 2, ... up
    to some point: none missing, none twice. *)
Theorem no_number_missing_or_twice ms s e :
  number <$> stream s e (journal (after ms)) = seq 0 (length (stream s e (journal (after ms)))).
Proof. apply (ok_numbers _ (ordered_after ms)). Qed.

(** Nothing is invented: what is in the journal was delivered. *)
Theorem journal_was_delivered ms m : m ∈ journal (after ms) → m ∈ ms.
Proof.
  induction ms as [|m' ms IH] using rev_ind; [by intros ?%elem_of_nil|].
  rewrite prefix_then_rest /= elem_of_app elem_of_list_singleton. unfold receive.
  destruct (judge (after ms) m'); simpl; try by left; apply IH.
  rewrite elem_of_app elem_of_list_singleton. naive_solver.
Qed.

(** If the sources are honest about what they sent, the [i]-th event accepted
    from an epoch is the [i]-th event that the source sent in it. *)
Theorem accepted_is_what_was_sent (sent : source → nat → list event) ms s e i x :
  Forall (λ m, sent (from m) (epoch m) !! number m = Some (payload m)) ms →
  (payload <$> stream s e (journal (after ms))) !! i = Some x →
  sent s e !! i = Some x.
Proof.
  intros Hms Hi. apply list_lookup_fmap_Some in Hi as (m & Hm & ->).
  pose proof (no_number_missing_or_twice ms s e) as Hn.
  assert (number m = i) as <-.
  { apply (f_equal (lookup i)) in Hn. rewrite list_lookup_fmap Hm /= in Hn.
    symmetry in Hn. by apply lookup_seq in Hn as [-> _]. }
  apply elem_of_list_lookup_2, elem_of_list_filter in Hm as [[<- <-] Hm].
  apply journal_was_delivered in Hm. rewrite Forall_forall in Hms. by apply Hms.
Qed.

(** ** The order between sources does not matter
    when no two sources speak about the same share, as with one agent per node. *)
Definition apart (l : list message) : Prop :=
  ∀ m m', m ∈ l → m' ∈ l → from m ≠ from m' → share_of (payload m) ≠ share_of (payload m').

Lemma move_to_front L (e : event) (h rest : list event) :
  Forall (λ e', share_of e' ≠ share_of e) h → run L (h ++ e :: rest) = run L (e :: h ++ rest).
Proof.
  intros Hh. revert L. induction Hh as [|e' h He _ IH]; intros L; [done|].
  simpl. rewrite IH /=. by rewrite different_shares_commute.
Qed.

Lemma of_source_split s l m k :
  of_source s l = m :: k →
  ∃ a b, l = a ++ m :: b ∧ of_source s a = [] ∧ of_source s b = k.
Proof.
  induction l as [|x l IH]; [done|]. unfold of_source in *. rewrite filter_cons.
  case_decide as Hx.
  - intros [= -> <-]. by exists [], l.
  - intros (a & b & -> & Ha & Hb)%IH. exists (x :: a), b. by rewrite filter_cons decide_False.
Qed.

Lemma in_of_source m l : m ∈ of_source (from m) l ↔ m ∈ l.
Proof. unfold of_source. rewrite elem_of_list_filter. naive_solver. Qed.

Lemma interleaving L l1 l2 :
  (∀ s, of_source s l1 = of_source s l2) → apart l1 →
  run L (payload <$> l1) = run L (payload <$> l2).
Proof.
  revert L l2. induction l1 as [|m l1 IH]; intros L l2 Hsame Hap.
  { destruct l2 as [|m l2]; [done|]. specialize (Hsame (from m)).
    by rewrite /of_source filter_nil filter_cons decide_True in Hsame. }
  pose proof (Hsame (from m)) as Hm. symmetry in Hm.
  rewrite {2}/of_source filter_cons decide_True // in Hm.
  apply of_source_split in Hm as (a & b & -> & Ha & Hb).
  rewrite !fmap_app !fmap_cons. rewrite move_to_front.
  - simpl. rewrite -fmap_app. apply IH.
    + intros s. specialize (Hsame s). unfold of_source in *.
      rewrite filter_app. rewrite filter_app !filter_cons in Hsame.
      destruct (decide (from m = s)) as [<-|]; [|done]. by rewrite Ha Hb.
    + intros m1 m2 H1 H2. apply Hap; by right.
  - apply Forall_fmap, Forall_forall. intros m' Hm'. simpl.
    apply Hap; [|by left|].
    + apply in_of_source. rewrite Hsame. apply in_of_source. apply elem_of_app. by left.
    + intros Hf. assert (m' ∈ of_source (from m) a) as Hin.
      { rewrite -Hf. by apply in_of_source. }
      rewrite Ha in Hin. by apply elem_of_nil in Hin.
Qed.

(** Two schedules that got the same events accepted from each source end in the
    same ledger, however the deliveries of different sources were interleaved. *)
Theorem schedule_does_not_matter ms ms' :
  (∀ s, of_source s (journal (after ms)) = of_source s (journal (after ms'))) →
  apart (journal (after ms)) →
  book (after ms) = book (after ms').
Proof.
  intros Hsame Hap. rewrite !(ok_book _ (consistent_after _)). by apply interleaving.
Qed.

(** The meter as a pure function: the one operation is compare-and-switch.

    A share is a slice of a device.  Its time, from the moment it is registered,
    is cut by switches.  Each switch charges the ticks since the share's cursor
    to the owner that held the share, moves the cursor, and installs the next
    holder.  Idle and unavailable are owners like any tenant, so there is no
    unattributed time and neither a gap nor an overlap can be written down.

    Shares and owners are keys of maps that grow: nothing bounds how many there
    are.  The theorems at the end hold for every list of events whatever. *)
From stdpp Require Import gmap list.
From iris.prelude Require Import prelude options.

(** ** Words *)
Notation share := nat (only parsing).
Notation job := nat (only parsing).
Notation owner := nat (only parsing).
Notation time := nat (only parsing).
Notation holding := (job * owner)%type (only parsing).   (* who holds a share, and for which job *)

Definition idle : owner := 0.
Definition unavailable : owner := 1.
Definition no_job : job := 0.                  (* the "job" of an idle share *)
Definition down_job : job := 1.                (* the "job" of a share that is away *)

Record cell := Cell {
  registered : time;                           (* the share's first tick *)
  cursor : time;                               (* the first tick not yet attributed *)
  holder : holding;
}.

Record ledger := Ledger {
  shares : gmap share cell;
  counters : gmap owner nat;                   (* an owner that is absent has 0 *)
  total : nat;                                 (* ticks measured over all shares *)
}.

Definition no_shares : ledger := Ledger ∅ ∅ 0.

Inductive event :=
  | Register (s : share) (t : time)            (* a new share; it starts idle *)
  | Switch (s : share) (expected : option job) (next : holding) (t : time)
                                               (* no guard: whoever holds it *)
  | Settle (s : share) (t : time).             (* charge up to [t]; same holder *)

Global Instance event_eq_dec : EqDecision event.
Proof. solve_decision. Defined.

(** The product's verbs are switches. *)
Definition start s j k t := Switch s (Some no_job) (j, k) t.
Definition stop s j t := Switch s (Some j) (no_job, idle) t.
Definition preempt s victim j k t := Switch s (Some victim) (j, k) t.
Definition fail s t := Switch s None (down_job, unavailable) t.
Definition recover s t := Switch s (Some down_job) (no_job, idle) t.

Definition share_of (e : event) : share :=
  match e with Register s _ | Switch s _ _ _ | Settle s _ => s end.

(** ** The step *)
Definition admits (expected : option job) (j : job) : bool :=
  match expected with None => true | Some j' => bool_decide (j = j') end.

Definition counter (L : ledger) (k : owner) : nat := default 0 (counters L !! k).

(** Ticks from the cursor up to [t]; a late report charges nothing. *)
Definition charged (c : cell) (t : time) : nat := t - cursor c.

Definition charge (L : ledger) (s : share) (c : cell) (next : holding) (t : time) : ledger :=
  let k := (holder c).2 in
  Ledger (<[s := Cell (registered c) (cursor c + charged c t) next]> (shares L))
         (<[k := counter L k + charged c t]> (counters L))
         (total L + charged c t).

(** The cell an event charges, the holder it installs, and when; [None] when
    the event charges nothing: unknown share, or the guard does not hold. *)
Definition switched (L : ledger) (e : event) : option (cell * holding * time) :=
  match e with
  | Register _ _ => None
  | Switch s expected next t =>
      c ← shares L !! s; if admits expected (holder c).1 then Some (c, next, t) else None
  | Settle s t => c ← shares L !! s; Some (c, holder c, t)
  end.

Definition opens (L : ledger) (e : event) : option time :=
  match e with
  | Register s t => match shares L !! s with None => Some t | Some _ => None end
  | _ => None
  end.

Definition step (L : ledger) (e : event) : ledger :=
  match opens L e, switched L e with
  | Some t, _ =>
      Ledger (<[share_of e := Cell t t (no_job, idle)]> (shares L)) (counters L) (total L)
  | None, Some (c, next, t) => charge L (share_of e) c next t
  | None, None => L
  end.

(** What the caller is told: did the event take effect? *)
Definition fires (L : ledger) (e : event) : bool :=
  match opens L e, switched L e with None, None => false | _, _ => true end.

Definition run (L : ledger) (h : list event) : ledger := foldl step L h.

(** ** Attribution: who owns tick [i] of share [s]
    It is a finite map, so a tick has at most one owner by construction; the
    theorems say that it has at least one, and that it keeps it. *)
Notation attribution := (gmap (share * time) owner).

Fixpoint fill (s : share) (c n : nat) (k : owner) (M : attribution) : attribution :=
  match n with
  | 0 => M
  | S n => <[(s, c + n) := k]> (fill s c n k M)
  end.

Definition attribute (L : ledger) (M : attribution) (e : event) : attribution :=
  match switched L e with
  | Some (c, _, t) => fill (share_of e) (cursor c) (charged c t) (holder c).2 M
  | None => M
  end.

Fixpoint attribute_all (L : ledger) (M : attribution) (h : list event) : attribution :=
  match h with
  | [] => M
  | e :: h => attribute_all (step L e) (attribute L M e) h
  end.

Definition state_after (h : list event) : ledger := run no_shares h.
Definition owners_after (h : list event) : attribution := attribute_all no_shares ∅ h.

(** How many ticks an owner owns. *)
Definition ticks_of (k : owner) (M : attribution) : nat :=
  size (filter (λ kv : (share * time) * owner, kv.2 = k) M).

(** ** Sums over maps *)
Definition map_sum {A} (f : A → nat) (m : gmap nat A) : nat :=
  sum_list_with (λ kv, f kv.2) (map_to_list m).

Definition elapsed (c : cell) : nat := cursor c - registered c.

Lemma sum_reorder {A} (f : A → nat) l1 l2 :
  l1 ≡ₚ l2 → sum_list_with f l1 = sum_list_with f l2.
Proof. induction 1; simpl; lia. Qed.

Lemma map_sum_empty {A} (f : A → nat) : map_sum f ∅ = 0.
Proof. unfold map_sum. by rewrite map_to_list_empty. Qed.

Lemma map_sum_fresh {A} (f : A → nat) m k a :
  m !! k = None → map_sum f (<[k := a]> m) = f a + map_sum f m.
Proof.
  intros Hk. unfold map_sum.
  by rewrite (sum_reorder _ _ ((k, a) :: map_to_list m)); [|apply map_to_list_insert].
Qed.

Lemma map_sum_delete {A} (f : A → nat) m k a :
  m !! k = Some a → map_sum f m = f a + map_sum f (delete k m).
Proof.
  intros Hk. rewrite -{1}(insert_delete m k a) //.
  apply map_sum_fresh, lookup_delete.
Qed.

Lemma map_sum_update {A} (f : A → nat) m k a b n :
  m !! k = Some a → f b = f a + n → map_sum f (<[k := b]> m) = map_sum f m + n.
Proof.
  intros Hk Hf. rewrite (map_sum_delete f m k a) // -insert_delete_insert.
  rewrite map_sum_fresh; [lia|apply lookup_delete].
Qed.

(** A counter that grows by [n], whether or not it was there before. *)
Lemma map_sum_add (m : gmap nat nat) k n :
  map_sum id (<[k := default 0 (m !! k) + n]> m) = map_sum id m + n.
Proof.
  destruct (m !! k) as [a|] eqn:Hk; simpl.
  - by eapply map_sum_update.
  - rewrite map_sum_fresh //= /id. lia.
Qed.

(** ** Filling ticks *)
Lemma fill_elsewhere s c n k M s' i :
  (s' ≠ s ∨ i < c ∨ c + n ≤ i) → fill s c n k M !! (s', i) = M !! (s', i).
Proof.
  induction n as [|n IH]; intros Hout; simpl; [done|].
  rewrite lookup_insert_ne; [apply IH; lia|]. intros [=]; lia.
Qed.

Lemma fill_inside s c n k M i :
  c ≤ i < c + n → fill s c n k M !! (s, i) = Some k.
Proof.
  induction n as [|n IH]; intros Hin; simpl; [lia|].
  destruct (decide (i = c + n)) as [->|]; [by rewrite lookup_insert|].
  rewrite lookup_insert_ne; [apply IH; lia|]. intros [=]; lia.
Qed.

(** Ticks not yet attributed, from the cursor on. *)
Definition blank (s : share) (c : nat) (M : attribution) : Prop :=
  ∀ i, c ≤ i → M !! (s, i) = None.

Lemma fill_size s c n k M : blank s c M → size (fill s c n k M) = size M + n.
Proof.
  intros Hb. induction n as [|n IH]; simpl; [lia|].
  rewrite map_size_insert_None; [lia|].
  rewrite fill_elsewhere; [apply Hb; lia|lia].
Qed.

Lemma fill_ticks s c n k k' M :
  blank s c M →
  ticks_of k' (fill s c n k M) = ticks_of k' M + (if decide (k = k') then n else 0).
Proof.
  intros Hb. induction n as [|n IH]; simpl; [case_decide; lia|].
  assert (fill s c n k M !! (s, c + n) = None) as Hnew.
  { rewrite fill_elsewhere; [apply Hb; lia|lia]. }
  unfold ticks_of in *. case_decide as Hk.
  - rewrite map_filter_insert_True // map_size_insert_None; [lia|].
    apply map_filter_lookup_None. by left.
  - rewrite map_filter_insert_False // delete_notin //.
Qed.

Lemma fill_grows s c n k M : blank s c M → M ⊆ fill s c n k M.
Proof.
  intros Hb. apply map_subseteq_spec. intros [s' i] k' HM.
  rewrite fill_elsewhere; [done|].
  destruct (decide (s' = s)) as [->|]; [|by left].
  destruct (decide (i < c)); [by right; left|].
  rewrite Hb in HM; [done|lia].
Qed.

(** ** The invariant *)
Record sound (L : ledger) (M : attribution) : Prop := Sound {
  sound_order : ∀ s c, shares L !! s = Some c → registered c ≤ cursor c;
  sound_cover : ∀ s i, is_Some (M !! (s, i)) ↔
    ∃ c, shares L !! s = Some c ∧ registered c ≤ i < cursor c;
  sound_counter : ∀ k, counter L k = ticks_of k M;
  sound_counters : map_sum id (counters L) = total L;
  sound_elapsed : map_sum elapsed (shares L) = total L;
  sound_size : size M = total L;
}.

Lemma sound_blank L M s c : sound L M → shares L !! s = Some c → blank s (cursor c) M.
Proof.
  intros HS Hc i Hi. apply eq_None_not_Some. intros HM.
  apply (sound_cover _ _ HS) in HM as (c' & Hc' & ?). simplify_eq. lia.
Qed.

(** What [switched] and [opens] tell about the ledger. *)
Lemma switched_cell L e c next t :
  switched L e = Some (c, next, t) → shares L !! share_of e = Some c.
Proof.
  destruct e as [s t'|s g n t'|s t']; simpl; [done|..];
    destruct (shares L !! s) as [c'|]; simpl; try done; [|naive_solver].
  destruct (admits g _); naive_solver.
Qed.

Lemma opens_fresh L e t : opens L e = Some t → shares L !! share_of e = None.
Proof. destruct e; simpl; try done. by case_match. Qed.

Lemma opens_switched L e t : opens L e = Some t → switched L e = None.
Proof. by destruct e. Qed.

Lemma sound_empty : sound no_shares ∅.
Proof.
  split; simpl.
  - intros s c. by rewrite lookup_empty.
  - intros s i. rewrite lookup_empty. split; [by intros [? ?]|].
    intros (c & Hc & _). by rewrite lookup_empty in Hc.
  - intros k. by rewrite /counter /ticks_of lookup_empty map_filter_empty map_size_empty.
  - apply map_sum_empty.
  - apply map_sum_empty.
  - apply map_size_empty.
Qed.

Lemma sound_open L M s t :
  sound L M → shares L !! s = None →
  sound (Ledger (<[s := Cell t t (no_job, idle)]> (shares L)) (counters L) (total L)) M.
Proof.
  intros [Hord Hcov Hcnt Hcs Hel Hsz] Hs. split; simpl; try done.
  - intros s' c [[<- <-]|[_ Hc]]%lookup_insert_Some; [done|by eapply Hord].
  - intros s' i. rewrite Hcov. split; intros (c & Hc & Hi).
    + exists c. rewrite lookup_insert_ne; [done|]. intros ->. by simplify_map_eq.
    + apply lookup_insert_Some in Hc as [[<- <-]|[_ Hc]]; [simpl in Hi; lia|by eauto].
  - rewrite map_sum_fresh // /elapsed /=. unfold elapsed in Hel. lia.
Qed.

Lemma sound_charge L M s c next t :
  sound L M → shares L !! s = Some c →
  sound (charge L s c next t) (fill s (cursor c) (charged c t) (holder c).2 M).
Proof.
  intros HS Hs. pose proof (sound_blank _ _ _ _ HS Hs) as Hb.
  destruct HS as [Hord Hcov Hcnt Hcs Hel Hsz].
  pose proof (Hord _ _ Hs) as Hc. set (n := charged c t). set (k := (holder c).2).
  split; simpl; fold n; fold k.
  - intros s' c' [[<- <-]|[_ Hc']]%lookup_insert_Some; [simpl; lia|by eapply Hord].
  - intros s' i. destruct (decide (s' = s)) as [->|Hne].
    + rewrite lookup_insert. destruct (decide (cursor c ≤ i < cursor c + n)).
      * rewrite fill_inside //. split; [|by eauto]. intros _.
        eexists. split; [done|]. simpl. lia.
      * rewrite fill_elsewhere; [|lia]. rewrite Hcov Hs.
        split; intros (c' & [= <-] & ?); (eexists; split; [done|simpl in *; lia]).
    + rewrite fill_elsewhere; [|by left]. by rewrite lookup_insert_ne.
  - intros k'. rewrite fill_ticks // -Hcnt /counter /=. case_decide as Hk.
    + subst k'. by rewrite lookup_insert.
    + rewrite lookup_insert_ne //= Nat.add_0_r //.
  - rewrite /counter map_sum_add. lia.
  - erewrite (map_sum_update elapsed _ _ _ _ n); [by rewrite Hel|done|].
    unfold elapsed; simpl. lia.
  - rewrite fill_size //. lia.
Qed.

Lemma sound_step L M e : sound L M → sound (step L e) (attribute L M e).
Proof.
  intros HS. unfold step, attribute. destruct (opens L e) as [t|] eqn:Ho.
  - rewrite (opens_switched _ _ _ Ho). apply sound_open; [done|]. by eapply opens_fresh.
  - destruct (switched L e) as [[[c next] t]|] eqn:Hsw; [|done].
    apply sound_charge; [done|]. by eapply switched_cell.
Qed.

Lemma attribute_grows L M e : sound L M → M ⊆ attribute L M e.
Proof.
  intros HS. unfold attribute.
  destruct (switched L e) as [[[c next] t]|] eqn:Hsw; [|done].
  apply fill_grows. eapply sound_blank; [done|]. by eapply switched_cell.
Qed.

Lemma sound_run L M h : sound L M → sound (run L h) (attribute_all L M h).
Proof.
  revert L M. induction h as [|e h IH]; intros L M HS; [done|].
  simpl. by apply IH, sound_step.
Qed.

Lemma attribute_all_grows L M h : sound L M → M ⊆ attribute_all L M h.
Proof.
  revert L M. induction h as [|e h IH]; intros L M HS; [done|]. simpl.
  etrans; [by apply attribute_grows|]. by apply IH, sound_step.
Qed.

Lemma attribute_all_app L M h1 h2 :
  attribute_all L M (h1 ++ h2) = attribute_all (run L h1) (attribute_all L M h1) h2.
Proof. revert L M. induction h1 as [|e h1 IH]; intros L M; [done|]. apply IH. Qed.

Lemma run_app L h1 h2 : run L (h1 ++ h2) = run (run L h1) h2.
Proof. apply foldl_app. Qed.

Lemma sound_history h : sound (state_after h) (owners_after h).
Proof. apply sound_run, sound_empty. Qed.

(** ** Theorems, for every history [h] *)

(** Each tick from a share's registration to its cursor has exactly one owner. *)
Theorem every_tick_has_one_owner h s c i :
  shares (state_after h) !! s = Some c → registered c ≤ i < cursor c →
  ∃ k, owners_after h !! (s, i) = Some k ∧ ∀ k', owners_after h !! (s, i) = Some k' → k' = k.
Proof.
  intros Hs Hi. destruct (sound_cover _ _ (sound_history h) s i) as [_ [k Hk]]; [by eauto|].
  exists k. split; [done|]. intros k' Hk'. by simplify_eq.
Qed.

(** No other tick has an owner. *)
Theorem no_other_tick_has_an_owner h s i k :
  owners_after h !! (s, i) = Some k →
  ∃ c, shares (state_after h) !! s = Some c ∧ registered c ≤ i < cursor c.
Proof. intros Hk. apply (sound_cover _ _ (sound_history h)). by eauto. Qed.

(** Each owner's counter is the number of ticks it owns. *)
Theorem counter_is_number_of_ticks h k :
  counter (state_after h) k = ticks_of k (owners_after h).
Proof. apply (sound_counter _ _ (sound_history h)). Qed.

(** The counters sum to what was measured, and that is the time of all shares. *)
Theorem conservation h :
  map_sum id (counters (state_after h)) = total (state_after h) ∧
  map_sum elapsed (shares (state_after h)) = total (state_after h).
Proof. split; apply (sound_history h). Qed.

(** Attribution is final: later events never change the owner of a tick. *)
Theorem attribution_is_final h later s i k :
  owners_after h !! (s, i) = Some k → owners_after (h ++ later) !! (s, i) = Some k.
Proof.
  intros Hk. unfold owners_after. rewrite attribute_all_app.
  eapply lookup_weaken; [exact Hk|]. apply attribute_all_grows, sound_history.
Qed.

(** The ticks an event charges go to whoever held the share before it. *)
Theorem ticks_go_to_the_holder h e s c i :
  fires (state_after h) e = true → share_of e = s →
  shares (state_after h) !! s = Some c →
  (∃ c', shares (state_after (h ++ [e])) !! s = Some c' ∧ cursor c ≤ i < cursor c') →
  owners_after (h ++ [e]) !! (s, i) = Some (holder c).2.
Proof.
  intros Hf <- Hc (c' & Hc' & Hi). revert Hc'. unfold owners_after, state_after in *.
  rewrite run_app attribute_all_app /= /attribute /step. unfold fires in Hf.
  destruct (opens _ e) as [t|] eqn:Ho.
  { apply opens_fresh in Ho. by simplify_eq. }
  destruct (switched _ e) as [[[c0 next] t]|] eqn:Hsw; [|done].
  pose proof (switched_cell _ _ _ _ _ Hsw). simplify_eq. simpl.
  rewrite lookup_insert. intros [= <-]. apply fill_inside. simpl in Hi. lia.
Qed.

(** And they end where the report says: the cursor moves to the reported time, or
    stays when the report is late.  Nobody is charged beyond a report. *)
Theorem cursor_moves_to_the_report L e c next t :
  switched L e = Some (c, next, t) →
  shares (step L e) !! share_of e = Some (Cell (registered c) (cursor c `max` t) next).
Proof.
  intros Hsw. unfold step. destruct (opens L e) eqn:Ho.
  { by rewrite (opens_switched _ _ _ Ho) in Hsw. }
  rewrite Hsw /= lookup_insert. do 2 f_equal. unfold charged. lia.
Qed.

(** ** Closing twice *)
Definition holds (L : ledger) (s : share) (j : job) : Prop :=
  ∃ c, shares L !! s = Some c ∧ (holder c).1 = j.

Lemma guard_fails L s j next t : ¬ holds L s j → step L (Switch s (Some j) next t) = L.
Proof.
  intros Hn. unfold step; simpl. destruct (shares L !! s) as [c|] eqn:Hs; simpl; [|done].
  rewrite bool_decide_eq_false_2 //. intros Hj. apply Hn. by exists c.
Qed.

Lemma switch_ends_hold L s j next t :
  next.1 ≠ j → ¬ holds (step L (Switch s (Some j) next t)) s j.
Proof.
  intros Hne (c & Hc & Hj). revert Hc. unfold step; simpl.
  destruct (shares L !! s) as [c0|] eqn:Hs; simpl; [|by rewrite Hs].
  case_bool_decide as Hj0; simpl.
  - rewrite lookup_insert. intros [= <-]. done.
  - rewrite Hs. intros [= <-]. done.
Qed.

(** A guarded close is idempotent: the second one, at any time and to any next
    holder, changes nothing, whether or not the first took effect. *)
Theorem close_is_idempotent L s j next t next' t' :
  next.1 ≠ j →
  step (step L (Switch s (Some j) next t)) (Switch s (Some j) next' t')
    = step L (Switch s (Some j) next t).
Proof. intros Hne. by apply guard_fails, switch_ends_hold. Qed.

(** Does this event install job [j] on share [s]?  (Registering installs
    [no_job]; settling installs nothing.) *)
Definition installs (s : share) (j : job) (e : event) : Prop :=
  match e with
  | Switch s' _ next _ => s' = s ∧ next.1 = j
  | Register s' _ => s' = s ∧ no_job = j
  | Settle _ _ => False
  end.

Lemma hold_needs_install L s j e :
  ¬ holds L s j → ¬ installs s j e → ¬ holds (step L e) s j.
Proof.
  intros Hn Hi (c & Hc & Hj). revert Hc. unfold step.
  destruct (opens L e) as [t|] eqn:Ho; [destruct e; simpl in *; [|done..]|].
  { intros [[<- <-]|[_ Hc]]%lookup_insert_Some; [by apply Hi|]. apply Hn. by exists c. }
  destruct (switched L e) as [[[c0 next] t]|] eqn:Hsw.
  2: { intros Hc. apply Hn. by exists c. }
  pose proof (switched_cell _ _ _ _ _ Hsw) as Hc0. simpl.
  intros [[<- <-]|[_ Hc]]%lookup_insert_Some; [|by apply Hn; exists c].
  destruct e as [s t'|s g n t'|s t']; simpl in *; [done|..];
    rewrite Hc0 /= in Hsw.
  - destruct (admits _ _); simplify_eq. by apply Hi.
  - simplify_eq. apply Hn. by exists c0.
Qed.

(** A job that is not installed on a share again stays closed there for ever: a
    stop, a retry or an expiry that arrives late finds nothing to close.  This
    is why job numbers must not be reused on a share; the oracle checks it. *)
Theorem closed_stays_closed L s j next t next' t' later :
  next.1 ≠ j → Forall (λ e, ¬ installs s j e) later →
  let L' := run (step L (Switch s (Some j) next t)) later in
  step L' (Switch s (Some j) next' t') = L'.
Proof.
  intros Hne Hl. simpl. apply guard_fails.
  pose proof (switch_ends_hold L s j next t Hne) as Hn. revert Hn.
  generalize (step L (Switch s (Some j) next t)) as L0.
  induction Hl as [|e later He _ IH]; intros L0 Hn; [done|].
  simpl. by apply IH, hold_needs_install.
Qed.

(** Registering twice, and settling twice, change nothing either. *)
Theorem register_is_idempotent L s t t' :
  step (step L (Register s t)) (Register s t') = step L (Register s t).
Proof.
  unfold step at 2 3; simpl. destruct (shares L !! s) as [c|] eqn:Hs.
  - unfold step; simpl. by rewrite Hs.
  - unfold step; simpl. by rewrite lookup_insert.
Qed.

(** An event that did not take effect changed nothing. *)
Theorem refused_changes_nothing L e : fires L e = false → step L e = L.
Proof. unfold fires, step. by repeat case_match. Qed.

(** ** Events on different shares commute
    So sources that speak about different shares need no common order. *)
Lemma step_elsewhere L e s : s ≠ share_of e → shares (step L e) !! s = shares L !! s.
Proof.
  intros Hne. unfold step. destruct (opens L e) as [t|]; simpl.
  - by rewrite lookup_insert_ne.
  - destruct (switched L e) as [[[c next] t]|]; [|done]. simpl. by rewrite lookup_insert_ne.
Qed.

Lemma opens_local L L' e :
  shares L' !! share_of e = shares L !! share_of e → opens L' e = opens L e.
Proof. destruct e; simpl; [|done..]. by intros ->. Qed.

Lemma switched_local L L' e :
  shares L' !! share_of e = shares L !! share_of e → switched L' e = switched L e.
Proof. destruct e; simpl; [done|..]; by intros ->. Qed.

Lemma charges_commute (m : gmap owner nat) k1 n1 k2 n2 :
  let add k n (m : gmap owner nat) := <[k := default 0 (m !! k) + n]> m in
  add k2 n2 (add k1 n1 m) = add k1 n1 (add k2 n2 m).
Proof.
  simpl. destruct (decide (k1 = k2)) as [->|Hne].
  - rewrite !lookup_insert !insert_insert /=. f_equal. lia.
  - rewrite !lookup_insert_ne // insert_commute //.
Qed.

Lemma step_eq L e :
  step L e = match opens L e, switched L e with
  | Some t, _ =>
      Ledger (<[share_of e := Cell t t (no_job, idle)]> (shares L)) (counters L) (total L)
  | None, Some (c, next, t) => charge L (share_of e) c next t
  | None, None => L
  end.
Proof. done. Qed.

Theorem different_shares_commute L e1 e2 :
  share_of e1 ≠ share_of e2 → step (step L e1) e2 = step (step L e2) e1.
Proof.
  intros Hne.
  assert (opens (step L e1) e2 = opens L e2 ∧ switched (step L e1) e2 = switched L e2)
    as [Ho2 Hs2].
  { split; [apply opens_local|apply switched_local]; by apply step_elsewhere. }
  assert (opens (step L e2) e1 = opens L e1 ∧ switched (step L e2) e1 = switched L e1)
    as [Ho1 Hs1].
  { split; [apply opens_local|apply switched_local]; by apply step_elsewhere. }
  rewrite (step_eq (step L e1) e2) Ho2 Hs2 (step_eq (step L e2) e1) Ho1 Hs1 !step_eq.
  destruct (opens L e1) as [t1|], (opens L e2) as [t2|].
  - simpl. f_equal. by apply insert_commute.
  - destruct (switched L e2) as [[[c2 n2] t2]|]; [|done].
    rewrite /charge /=. f_equal. by apply insert_commute.
  - destruct (switched L e1) as [[[c1 n1] t1]|]; [|done].
    rewrite /charge /=. f_equal. by apply insert_commute.
  - destruct (switched L e1) as [[[c1 n1] t1]|], (switched L e2) as [[[c2 n2] t2]|]; try done.
    rewrite /charge /counter /=. f_equal; [by apply insert_commute|apply charges_commute|lia].
Qed.

(** ** Capacity times time
    Settle every share at one instant [t]: the counters then sum to the number
    of shares times their time since registration, exactly. *)
Definition settle_all (L : ledger) (t : time) : list event :=
  (λ kv, Settle kv.1 t) <$> map_to_list (shares L).

Definition settled (t : time) (c : cell) : cell :=
  Cell (registered c) (cursor c + charged c t) (holder c).

Lemma settle_lookup (ss : list share) L t s :
  shares (run L ((λ s, Settle s t) <$> ss)) !! s =
    if decide (s ∈ ss) then settled t <$> shares L !! s else shares L !! s.
Proof.
  revert L. induction ss as [|s' ss IH]; intros L; [done|].
  rewrite fmap_cons /= IH. clear IH.
  assert (shares (step L (Settle s' t)) !! s =
    if decide (s = s') then settled t <$> shares L !! s else shares L !! s) as Hstep.
  { unfold step; simpl. case_decide as Hs; [subst s'|].
    - destruct (shares L !! s) as [c|] eqn:Hc; simpl; [by rewrite lookup_insert|by rewrite Hc].
    - destruct (shares L !! s') as [c|] eqn:Hc; simpl; [|done]. by rewrite lookup_insert_ne. }
  rewrite Hstep. destruct (decide (s = s')) as [->|Hs].
  - destruct (decide (s' ∈ s' :: ss)) as [_|Hno]; [|by destruct Hno; left].
    destruct (decide _); [|done]. destruct (shares L !! s') as [c|]; [|done]. simpl.
    f_equal. unfold settled, charged. simpl. f_equal. lia.
  - destruct (decide (s ∈ ss)) as [Hin|Hout], (decide (s ∈ s' :: ss)) as [Hin'|Hout']; try done.
    + destruct Hout'. by right.
    + by apply elem_of_cons in Hin' as [->|?].
Qed.

Lemma settled_sum (l : list (nat * cell)) t :
  (∀ s c, (s, c) ∈ l → registered c ≤ cursor c ≤ t) →
  sum_list_with (λ kv, elapsed kv.2) (prod_map id (settled t) <$> l)
    = sum_list_with (λ kv, t - registered kv.2) l.
Proof.
  induction l as [|[s c] l IH]; intros Hall; [done|]. simpl. rewrite IH.
  - destruct (Hall s c); [by left|]. unfold elapsed, settled, charged; simpl. lia.
  - intros s' c' Hin. eapply Hall. by right.
Qed.

Theorem capacity_times_time h t :
  (∀ s c, shares (state_after h) !! s = Some c → cursor c ≤ t) →
  map_sum id (counters (state_after (h ++ settle_all (state_after h) t)))
    = map_sum (λ c, t - registered c) (shares (state_after h)).
Proof.
  intros Ht. destruct (conservation (h ++ settle_all (state_after h) t)) as [-> <-].
  set (L := state_after h) in *.
  assert (shares (state_after (h ++ settle_all L t)) = settled t <$> shares L) as ->.
  { unfold state_after. rewrite run_app. fold (state_after h). fold L.
    assert (settle_all L t = (λ s, Settle s t) <$> (map_to_list (shares L)).*1) as ->.
    { unfold settle_all. by rewrite -list_fmap_compose. }
    apply map_eq. intros s. rewrite settle_lookup lookup_fmap.
    case_decide as Hin; [done|]. destruct (shares L !! s) as [c|] eqn:Hc; [|done].
    exfalso. apply Hin. apply elem_of_list_fmap. exists (s, c).
    by rewrite elem_of_map_to_list. }
  unfold map_sum. rewrite (sum_reorder _ _ _ (map_to_list_fmap _ _)).
  apply settled_sum. intros s c Hc%elem_of_map_to_list. split; [|by eapply Ht].
  by eapply (sound_order _ _ (sound_history h)).
Qed.

(** The aggregator as a program: many senders deliver at once, in any order and
    any number of times, and the memory is always what [sources] says.

    - Each delivery appends its message to one list of deliveries; whenever the
      lock is free the memory is [after] that list, so every theorem of [sources]
      holds of the shared memory.
    - A delivery answers what the model answers ([judge]).
    - An acknowledged message is [committed], and that is for ever. *)
From iris.algebra.lib Require Import mono_list.
From iris.proofmode Require Import proofmode.
From iris.heap_lang Require Import proofmode notation adequacy.
From iris.heap_lang.lib Require Import spin_lock.
From iris.prelude Require Import options.
From bailiwick Require Import model sources maps ledger.

(** ** Code *)
Definition the_ledger : val := λ: "G", Fst "G".
Definition the_known : val := λ: "G", Fst (Snd "G").
Definition the_places : val := λ: "G", Snd (Snd "G").

Definition new_collector : val := λ: <>,
  let: "shares" := new_map #() in
  let: "counters" := new_map #() in
  let: "total" := ref #0 in
  let: "known" := new_map #() in
  let: "places" := new_map #() in
  let: "lock" := newlock #() in
  (("lock", ("shares", ("counters", "total"))), ("known", "places")).

(** A key is (source, (epoch, number)); a message is (key, event). *)
Definition same_key : val := λ: "a" "b",
  (Fst "a" = Fst "b") &&
  ((Fst (Snd "a") = Fst (Snd "b")) && (Snd (Snd "a") = Snd (Snd "b"))).

Definition same_expected : val := λ: "a" "b",
  match: "a" with
    NONE => match: "b" with NONE => #true | SOME <> => #false end
  | SOME "j" => match: "b" with NONE => #false | SOME "j'" => "j" = "j'" end
  end.

Definition same_switch : val := λ: "a" "b",
  same_expected (Fst "a") (Fst "b") &&
  ((Fst (Fst (Snd "a")) = Fst (Fst (Snd "b"))) &&
  ((Snd (Fst (Snd "a")) = Snd (Fst (Snd "b"))) && (Snd (Snd "a") = Snd (Snd "b")))).

Definition same_event : val := λ: "a" "b",
  (Fst "a" = Fst "b") &&
  match: Snd "a" with
    InjL "t" => match: Snd "b" with InjL "t'" => "t" = "t'" | InjR <> => #false end
  | InjR "a" =>
      match: Snd "b" with
        InjL <> => #false
      | InjR "b" =>
          match: "a" with
            InjL "x" => match: "b" with InjL "y" => same_switch "x" "y" | InjR <> => #false end
          | InjR "t" => match: "b" with InjL <> => #false | InjR "t'" => "t" = "t'" end
          end
      end
  end.

(** Is it the next of the newest epoch, or the first of a newer one?  The place
    of a source is (newest epoch, next number), if it was heard before. *)
Definition in_line : val := λ: "place" "epoch" "number",
  match: "place" with
    NONE => "number" = #0
  | SOME "p" =>
      if: "epoch" = Fst "p" then "number" = Snd "p"
      else (Fst "p" < "epoch") && ("number" = #0)
  end.

Definition too_old : val := λ: "place" "epoch",
  match: "place" with NONE => #false | SOME "p" => "epoch" < Fst "p" end.

(** Answers, as numbers. *)
Definition enc_answer (a : answer) : val :=
  match a with Accepted => #0 | Duplicate => #1 | Conflict => #2 | Early => #3 | Fenced => #4 end.

(** The next two are called with the lock held. *)
Definition judge_message : val := λ: "G" "m",
  match: get same_key (the_known "G") (Fst "m") with
    SOME "e" =>
      if: same_event "e" (Snd "m") then enc_answer Duplicate else enc_answer Conflict
  | NONE =>
      let: "place" := get same_number (the_places "G") (Fst (Fst "m")) in
      let: "epoch" := Fst (Snd (Fst "m")) in
      if: in_line "place" "epoch" (Snd (Snd (Fst "m"))) then enc_answer Accepted
      else if: too_old "place" "epoch" then enc_answer Fenced
      else enc_answer Early
  end.

Definition commit_message : val := λ: "G" "m",
  apply_event (the_ledger "G") (Snd "m");;
  put same_key (the_known "G") (Fst "m") (Snd "m");;
  put same_number (the_places "G") (Fst (Fst "m"))
    (Fst (Snd (Fst "m")), Snd (Snd (Fst "m")) + #1).

(** Commit, then acknowledge. *)
Definition deliver : val := λ: "G" "m",
  acquire (the_lock (the_ledger "G"));;
  let: "answer" := judge_message "G" "m" in
  (if: "answer" = enc_answer Accepted then commit_message "G" "m" else #());;
  release (the_lock (the_ledger "G"));;
  "answer".

(** A sender's loop: again while an earlier number is missing. *)
Definition send : val := rec: "go" "G" "m" :=
  let: "answer" := deliver "G" "m" in
  if: "answer" = enc_answer Early then "go" "G" "m" else "answer".

Definition audit_collector : val := λ: "G",
  acquire (the_lock (the_ledger "G"));;
  let: "b" := adds_up (the_ledger "G") in
  release (the_lock (the_ledger "G"));;
  "b".

(** ** How the model's values are written in HeapLang *)
Definition enc_key (k : key) : val := (#k.1.1, (#k.1.2, #k.2))%V.
Definition enc_place (p : nat * nat) : val := (#p.1, #p.2)%V.
Definition enc_message (m : message) : val := (enc_key (key_of m), enc_event (payload m))%V.

(** ** Ghost state *)
Class collectorG Σ := CollectorG {
  collector_lockG :> lockG Σ;
  collector_deliveriesG :> inG Σ (mono_listR (leibnizO message));
}.
Definition collectorΣ : gFunctors :=
  #[lockΣ; GFunctor (mono_listR (leibnizO message))].
Global Instance subG_collectorΣ {Σ} : subG collectorΣ Σ → collectorG Σ.
Proof. solve_inG. Qed.

Section proof.
Context `{!heapGS Σ, !collectorG Σ}.
Implicit Types (γ : gname) (m : message) (ms : list message).

(** The deliveries so far began with [ms]. *)
Definition deliveries γ ms : iProp Σ := own γ (◯ML (ms : list (leibnizO message))).

(** The message is in the journal, hence in the ledger. *)
Definition committed γ m : iProp Σ := ∃ ms, deliveries γ ms ∗ ⌜m ∈ journal (after ms)⌝.

Global Instance deliveries_persistent γ ms : Persistent (deliveries γ ms).
Proof. apply _. Qed.
Global Instance committed_persistent γ m : Persistent (committed γ m).
Proof. apply _. Qed.

Lemma journal_grows ms ms' m :
  ms `prefix_of` ms' → m ∈ journal (after ms) → m ∈ journal (after ms').
Proof.
  intros [later ->] Hm. rewrite prefix_then_rest.
  eapply elem_of_prefix; [done|apply journal_replay].
Qed.

(** Two committed messages with one key are one message: nothing that conflicts
    is ever in the ledger. *)
Lemma committed_agree γ m m' :
  key_of m = key_of m' → committed γ m -∗ committed γ m' -∗ ⌜m = m'⌝.
Proof.
  iIntros (Hk) "(%ms & H & %Hm) (%ms' & H' & %Hm')".
  iDestruct (own_valid_2 with "H H'") as %Hv%mono_list_lb_op_valid_1_L. iPureIntro.
  assert (∃ l, m ∈ journal (after l) ∧ m' ∈ journal (after l)) as (l & Hl & Hl').
  { destruct Hv; [exists ms'|exists ms]; split; try done; by eapply journal_grows. }
  apply known_in_journal in Hl; [|apply consistent_after].
  apply known_in_journal in Hl'; [|apply consistent_after].
  destruct m, m'. unfold key_of in *. simpl in *. naive_solver.
Qed.

Definition collector_memory (shs cnt tot kn pl : loc) (A : aggregator) : iProp Σ :=
  in_memory shs cnt tot (book A) ∗
  is_map enc_key enc_event kn (known A) ∗ is_map enc_number enc_place pl (place A).

Definition collector_protected γ (shs cnt tot kn pl : loc) : iProp Σ :=
  ∃ ms, collector_memory shs cnt tot kn pl (after ms) ∗
    own γ (●ML (ms : list (leibnizO message))).

Definition is_collector γ (G : val) : iProp Σ :=
  ∃ (lk : val) (shs cnt tot kn pl : loc) (γl : gname),
    ⌜G = ((lk, (#shs, (#cnt, #tot))), (#kn, #pl))%V⌝ ∗
    is_lock γl lk (collector_protected γ shs cnt tot kn pl).

Global Instance is_collector_persistent γ G : Persistent (is_collector γ G).
Proof. apply _. Qed.

(** ** Comparing *)
Lemma same_key_spec : compares enc_key same_key.
Proof.
  iIntros (k k' Φ) "_ HΦ". wp_lam. wp_pures.
  iApply (wp_wand _ _ _ (λ v, ⌜v = #(bool_decide (k = k'))⌝)%I);
    [|iIntros (? ->); by iApply "HΦ"].
  destruct k as [[s e] n], k' as [[s' e'] n']; simpl.
  rewrite equal_numbers. case_bool_decide; wp_pures.
  2: { iPureIntro. rewrite bool_decide_eq_false_2 //. naive_solver. }
  rewrite equal_numbers. case_bool_decide; wp_pures.
  2: { iPureIntro. rewrite bool_decide_eq_false_2 //. naive_solver. }
  rewrite equal_numbers. iPureIntro. do 2 f_equal. apply bool_decide_ext. naive_solver.
Qed.

Lemma same_expected_spec (x y : option job) :
  {{{ True }}} same_expected (enc_expected x) (enc_expected y)
  {{{ RET #(bool_decide (x = y)); True }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam. wp_pures.
  destruct x as [j|], y as [j'|]; simpl; wp_pures; try by iApply "HΦ".
  rewrite equal_numbers.
  replace (bool_decide (j = j')) with (bool_decide (Some j = Some j'));
    [by iApply "HΦ"|apply bool_decide_ext; naive_solver].
Qed.

Lemma same_event_spec (e e' : event) :
  {{{ True }}} same_event (enc_event e) (enc_event e')
  {{{ RET #(bool_decide (e = e')); True }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam. wp_pures.
  iApply (wp_wand _ _ _ (λ v, ⌜v = #(bool_decide (e = e'))⌝)%I);
    [|iIntros (? ->); by iApply "HΦ"].
  assert (∃ what, enc_event e = (#(share_of e), what)%V) as [what He] by (destruct e; eauto).
  assert (∃ what, enc_event e' = (#(share_of e'), what)%V) as [what' He'] by (destruct e'; eauto).
  rewrite He He'. wp_pures. rewrite equal_numbers. case_bool_decide as Hs; wp_pures.
  2: { iPureIntro. rewrite bool_decide_eq_false_2 //. naive_solver. }
  destruct e as [s t|s x n t|s t], e' as [s' t'|s' x' n' t'|s' t'];
    injection He as <-; injection He' as <-; simpl in Hs; subst s'; wp_pures;
    try (iPureIntro; rewrite bool_decide_eq_false_2 //; fail);
    try (rewrite equal_numbers; iPureIntro; do 2 f_equal; apply bool_decide_ext; naive_solver).
  wp_lam. wp_pures. wp_apply (same_expected_spec with "[//]"). iIntros "_".
  case_bool_decide; wp_pures.
  2: { iPureIntro. rewrite bool_decide_eq_false_2 //. naive_solver. }
  rewrite equal_numbers. case_bool_decide; wp_pures.
  2: { iPureIntro. rewrite bool_decide_eq_false_2 //. naive_solver. }
  rewrite equal_numbers. case_bool_decide; wp_pures.
  2: { iPureIntro. rewrite bool_decide_eq_false_2 //. naive_solver. }
  rewrite equal_numbers. iPureIntro. do 2 f_equal. destruct n, n'; simpl in *.
  apply bool_decide_ext. naive_solver.
Qed.

Lemma in_line_spec (p : option (nat * nat)) m :
  {{{ True }}} in_line (enc_option enc_place p) #(epoch m) #(number m)
  {{{ RET #(is_next p m); True }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam. wp_pures.
  iApply (wp_wand _ _ _ (λ v, ⌜v = #(is_next p m)⌝)%I); [|iIntros (? ->); by iApply "HΦ"].
  destruct p as [[e n]|]; simpl; wp_pures.
  - rewrite equal_numbers. case_bool_decide; wp_pures.
    + rewrite equal_numbers. iPureIntro. do 2 f_equal. apply bool_decide_ext. lia.
    + case_bool_decide; wp_pures.
      * rewrite (equal_numbers _ 0). iPureIntro. do 2 f_equal. apply bool_decide_ext. lia.
      * iPureIntro. rewrite bool_decide_eq_false_2 //. lia.
  - rewrite (equal_numbers _ 0). done.
Qed.

Lemma too_old_spec (p : option (nat * nat)) m :
  {{{ True }}} too_old (enc_option enc_place p) #(epoch m) {{{ RET #(is_old p m); True }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam. wp_pures. destruct p as [[e n]|]; simpl; wp_pures.
  - replace (bool_decide (Z.of_nat (epoch m) < Z.of_nat e)%Z) with (bool_decide (epoch m < e));
      [by iApply "HΦ"|apply bool_decide_ext; lia].
  - by iApply "HΦ".
Qed.

(** ** Judging and committing *)
Lemma judge_message_spec (lk : val) (shs cnt tot kn pl : loc) A m :
  {{{ collector_memory shs cnt tot kn pl A }}}
    judge_message ((lk, (#shs, (#cnt, #tot))), (#kn, #pl))%V (enc_message m)
  {{{ RET enc_answer (judge A m); collector_memory shs cnt tot kn pl A }}}.
Proof.
  iIntros (Φ) "(Hm & Hkn & Hpl) HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  wp_apply (get_spec _ _ _ _ _ (key_of m) same_key_spec with "Hkn"). iIntros "Hkn".
  unfold judge. destruct (known A !! key_of m) as [e|]; simpl; wp_pures.
  - wp_apply (same_event_spec with "[//]"). iIntros "_".
    case_bool_decide; case_decide; try done; wp_pures; iApply "HΦ"; by iFrame.
  - wp_lam. wp_pures.
    wp_apply (get_spec _ _ _ _ _ (from m) same_number_spec with "Hpl"). iIntros "Hpl".
    wp_pures. wp_apply (in_line_spec with "[//]"). iIntros "_".
    destruct (is_next (place A !! from m) m); wp_pures; [iApply "HΦ"; by iFrame|].
    wp_apply (too_old_spec with "[//]"). iIntros "_".
    destruct (is_old (place A !! from m) m); wp_pures; iApply "HΦ"; by iFrame.
Qed.

Lemma commit_message_spec (lk : val) (shs cnt tot kn pl : loc) A m :
  {{{ collector_memory shs cnt tot kn pl A }}}
    commit_message ((lk, (#shs, (#cnt, #tot))), (#kn, #pl))%V (enc_message m)
  {{{ RET #(); collector_memory shs cnt tot kn pl (commit A m) }}}.
Proof.
  iIntros (Φ) "(Hm & Hkn & Hpl) HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  wp_apply (apply_event_spec with "Hm"). iIntros "Hm". wp_pures. wp_lam. wp_pures.
  wp_apply (put_spec _ _ _ _ _ (key_of m) _ same_key_spec with "Hkn"). iIntros "Hkn".
  wp_pures. wp_lam. wp_pures.
  replace (Z.of_nat (number m) + 1)%Z with (Z.of_nat (S (number m))) by lia.
  wp_apply (put_spec _ _ _ _ _ (from m) (epoch m, S (number m)) same_number_spec with "Hpl").
  iIntros "Hpl". iApply "HΦ". iFrame.
Qed.

(** ** Operations *)
Lemma new_collector_spec :
  {{{ True }}} new_collector #() {{{ G γ, RET G; is_collector γ G }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam.
  wp_apply (new_map_spec enc_number enc_cell with "[//]"). iIntros (shs) "Hshs". wp_pures.
  wp_apply (new_map_spec enc_number enc_number with "[//]"). iIntros (cnt) "Hcnt". wp_pures.
  wp_alloc tot as "Htot". wp_pures.
  wp_apply (new_map_spec enc_key enc_event with "[//]"). iIntros (kn) "Hkn". wp_pures.
  wp_apply (new_map_spec enc_number enc_place with "[//]"). iIntros (pl) "Hpl". wp_pures.
  iMod (own_alloc (●ML ([] : list (leibnizO message)))) as (γ) "Hms".
  { apply mono_list_auth_valid. }
  wp_apply (newlock_spec (collector_protected γ shs cnt tot kn pl)
    with "[Hshs Hcnt Htot Hkn Hpl Hms]").
  { iExists []. by iFrame. }
  iIntros (lk γl) "#Hlk". wp_pures. iApply ("HΦ" $! _ γ). iModIntro.
  iExists lk, shs, cnt, tot, kn, pl, γl. by iSplit.
Qed.

(** The central specification: by any number of senders, at any time. *)
Lemma deliver_spec γ G m :
  {{{ is_collector γ G }}} deliver G (enc_message m)
  {{{ a, RET (enc_answer a);
      (∃ ms, ⌜a = judge (after ms) m⌝ ∗ deliveries γ (ms ++ [m])) ∗
      (if acknowledged a then committed γ m else True) }}}.
Proof.
  iIntros (Φ) "(%lk & %shs & %cnt & %tot & %kn & %pl & %γl & -> & #Hlk) HΦ".
  wp_lam. wp_pures. wp_lam. wp_pures. wp_lam. wp_pures.
  wp_apply (acquire_spec with "Hlk"). iIntros "(Hlocked & %ms & Hm & Hms)". wp_pures.
  wp_apply (judge_message_spec with "Hm"). iIntros "Hm". wp_pures.
  iMod (own_update _ _ (●ML (ms ++ [m] : list (leibnizO message))) with "Hms") as "Hms".
  { apply mono_list_update. by apply prefix_app_r. }
  iAssert (deliveries γ (ms ++ [m])) as "#Hlb".
  { iApply (own_mono with "Hms"). apply mono_list_included. }
  wp_bind (If _ _ _).
  iApply (wp_wand _ _ _ (λ _, collector_memory shs cnt tot kn pl (after (ms ++ [m])))%I
    with "[Hm]").
  { rewrite prefix_then_rest /= /receive. destruct (judge (after ms) m); simpl; wp_pures;
      try by iApply "Hm".
    wp_apply (commit_message_spec with "Hm"). iIntros "Hm". by iApply "Hm". }
  iIntros (?) "Hm". wp_pures. wp_lam. wp_pures. wp_lam. wp_pures.
  wp_apply (release_spec with "[$Hlk $Hlocked Hm Hms]").
  { iExists _. iFrame. }
  iIntros "_". wp_pures. iApply "HΦ". iModIntro. iSplit; [by iExists ms; iFrame "Hlb"|].
  destruct (acknowledged (judge (after ms) m)) eqn:Ha; [|done].
  iExists (ms ++ [m]). iFrame "Hlb". iPureIntro. by apply (acknowledged_is_committed ms m []).
Qed.

(** A sender that comes back with an acknowledgement has its event in the ledger. *)
Lemma send_spec γ G m :
  {{{ is_collector γ G }}} send G (enc_message m)
  {{{ a, RET (enc_answer a); if acknowledged a then committed γ m else True }}}.
Proof.
  iIntros (Φ) "#HG HΦ". iLöb as "IH". wp_lam. wp_pures.
  wp_apply (deliver_spec with "HG"). iIntros (a) "[_ Ha]". wp_pures.
  destruct a; simpl; wp_pures.
  - by iApply ("HΦ" $! Accepted with "Ha").
  - by iApply ("HΦ" $! Duplicate with "Ha").
  - by iApply ("HΦ" $! Conflict with "Ha").
  - by iApply "IH".
  - by iApply ("HΦ" $! Fenced with "Ha").
Qed.

Lemma audit_collector_spec γ G :
  {{{ is_collector γ G }}} audit_collector G {{{ RET #true; True }}}.
Proof.
  iIntros (Φ) "(%lk & %shs & %cnt & %tot & %kn & %pl & %γl & -> & #Hlk) HΦ".
  wp_lam. wp_pures. wp_lam. wp_pures. wp_lam. wp_pures.
  wp_apply (acquire_spec with "Hlk"). iIntros "(Hlocked & %ms & (Hm & Hkn & Hpl) & Hms)".
  wp_pures. wp_lam. wp_pures. rewrite (ok_book _ (consistent_after ms)).
  wp_apply (adds_up_spec with "Hm"). iIntros "Hm". wp_pures. wp_lam. wp_pures. wp_lam. wp_pures.
  wp_apply (release_spec with "[$Hlk $Hlocked Hm Hkn Hpl Hms]").
  { iExists ms. rewrite /collector_memory (ok_book _ (consistent_after ms)). iFrame. }
  iIntros "_". wp_pures. by iApply "HΦ".
Qed.
End proof.

(** ** A closed program
    Source 0 sends and repeats; another thread delivers the same messages in the
    wrong order; a third contradicts one of them; source 1 restarts with a new
    epoch while an old message of it is still under way.  Nothing gets stuck, and
    the audit can only return true. *)
Definition msg (s e n : nat) (x : event) : val := enc_message (Message s e n x).

Definition many_senders : expr :=
  let: "G" := new_collector #() in
  Fork (send "G" (msg 0 0 0 (Register 0 5));;
        send "G" (msg 0 0 1 (start 0 10 2 8));;
        send "G" (msg 0 0 1 (start 0 10 2 8));;
        send "G" (msg 0 0 2 (stop 0 10 20)));;
  Fork (deliver "G" (msg 0 0 2 (stop 0 10 20));;
        deliver "G" (msg 0 0 1 (start 0 10 2 8)));;
  Fork (deliver "G" (msg 0 0 1 (start 0 11 3 9)));;
  Fork (send "G" (msg 1 0 0 (Register 1 0));;
        send "G" (msg 1 1 0 (fail 1 30)));;
  Fork (deliver "G" (msg 1 0 1 (start 1 12 4 10)));;
  audit_collector "G".

Lemma many_senders_spec `{!heapGS Σ, !collectorG Σ} :
  ⊢ WP many_senders {{ v, ⌜v = #true⌝ }}.
Proof.
  rewrite /many_senders. wp_apply (new_collector_spec with "[//]"). iIntros (G γ) "#HG". wp_pures.
  wp_apply wp_fork.
  { do 3 (wp_apply (send_spec with "HG"); iIntros (?) "_"; wp_pures).
    wp_apply (send_spec with "HG"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (deliver_spec with "HG"). iIntros (?) "_". wp_pures.
    wp_apply (deliver_spec with "HG"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (deliver_spec with "HG"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (send_spec with "HG"). iIntros (?) "_". wp_pures.
    wp_apply (send_spec with "HG"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (deliver_spec with "HG"). by iIntros. }
  wp_pures. by wp_apply (audit_collector_spec with "HG").
Qed.

Theorem many_senders_are_safe σ : adequate NotStuck many_senders σ (λ v _, v = #true).
Proof.
  set (Σ := #[heapΣ; collectorΣ]).
  apply (heap_adequacy Σ NotStuck many_senders σ (λ v, v = #true)).
  iIntros (?) "_". iApply many_senders_spec.
Qed.

(** The ledger as a program: HeapLang code behind a lock, proved in Iris to do
    what [model] says, for any number of threads.

    - [is_ledger] may be shared freely: any thread may call any operation at any
      time.
    - Each change appends exactly one event to a history, and whenever the lock is
      free the memory is [state_after] that history: every theorem of [model]
      holds of the shared memory.
    - A change returns what the model answers ([fires]), and for each tick that it
      charged a receipt [attributed s i k] that can never be contradicted.
    - [audit] always answers true. *)
From iris.algebra.lib Require Import mono_list.
From iris.base_logic.lib Require Import ghost_map.
From iris.proofmode Require Import proofmode.
From iris.heap_lang Require Import proofmode notation adequacy.
From iris.heap_lang.lib Require Import spin_lock.
From iris.prelude Require Import options.
From bailiwick Require Import model maps.

(** ** Code *)
Definition the_lock : val := λ: "L", Fst "L".
Definition the_shares : val := λ: "L", Fst (Snd "L").
Definition the_counters : val := λ: "L", Fst (Snd (Snd "L")).
Definition the_total : val := λ: "L", Snd (Snd (Snd "L")).

(** A share's cell is (registered, (cursor, (job, owner))). *)
Definition cell_registered : val := λ: "c", Fst "c".
Definition cell_cursor : val := λ: "c", Fst (Snd "c").
Definition cell_holder : val := λ: "c", Snd (Snd "c").

Definition new_ledger : val := λ: <>,
  let: "shares" := new_map #() in
  let: "counters" := new_map #() in
  let: "total" := ref #0 in
  let: "lock" := newlock #() in
  ("lock", ("shares", ("counters", "total"))).

(** Called with the lock held. *)
Definition charge_share : val := λ: "L" "s" "c" "next" "t",
  let: "from" := cell_cursor "c" in
  let: "n" := if: "from" < "t" then "t" - "from" else #0 in
  let: "k" := Snd (cell_holder "c") in
  let: "a" := match: get same_number (the_counters "L") "k" with NONE => #0 | SOME "a" => "a" end in
  put same_number (the_shares "L") "s" (cell_registered "c", ("from" + "n", "next"));;
  put same_number (the_counters "L") "k" ("a" + "n");;
  the_total "L" <- !(the_total "L") + "n".

Definition guard_holds : val := λ: "expected" "j",
  match: "expected" with NONE => #true | SOME "j'" => "j" = "j'" end.

(** An event is a value: (share, what), where what is one of
    register at t | switch (expected, (next, t)) | settle at t. *)
Definition register_event : val := λ: "s" "t", ("s", InjL "t").
Definition switch_event : val := λ: "s" "expected" "next" "t",
  ("s", InjR (InjL ("expected", ("next", "t")))).
Definition settle_event : val := λ: "s" "t", ("s", InjR (InjR "t")).

(** Called with the lock held.  Answers whether the event took effect. *)
Definition apply_event : val := λ: "L" "e",
  let: "s" := Fst "e" in
  let: "found" := get same_number (the_shares "L") "s" in
  match: Snd "e" with
    InjL "t" =>
      match: "found" with
        NONE => put same_number (the_shares "L") "s" ("t", ("t", (#no_job, #idle)));; #true
      | SOME <> => #false
      end
  | InjR "rest" =>
      match: "found" with
        NONE => #false
      | SOME "c" =>
          match: "rest" with
            InjL "x" =>
              if: guard_holds (Fst "x") (Fst (cell_holder "c"))
              then charge_share "L" "s" "c" (Fst (Snd "x")) (Snd (Snd "x"));; #true
              else #false
          | InjR "t" => charge_share "L" "s" "c" (cell_holder "c") "t";; #true
          end
      end
  end.

(** The one operation that changes a shared ledger. *)
Definition submit : val := λ: "L" "e",
  acquire (the_lock "L");;
  let: "b" := apply_event "L" "e" in
  release (the_lock "L");;
  "b".

Definition register_share : val := λ: "L" "s" "t", submit "L" (register_event "s" "t").
Definition settle_share : val := λ: "L" "s" "t", submit "L" (settle_event "s" "t").
Definition start_job : val := λ: "L" "s" "j" "k" "t",
  submit "L" (switch_event "s" (SOME #no_job) ("j", "k") "t").
Definition stop_job : val := λ: "L" "s" "j" "t",
  submit "L" (switch_event "s" (SOME "j") (#no_job, #idle) "t").
Definition preempt_job : val := λ: "L" "s" "victim" "j" "k" "t",
  submit "L" (switch_event "s" (SOME "victim") ("j", "k") "t").
Definition fail_share : val := λ: "L" "s" "t",
  submit "L" (switch_event "s" NONE (#down_job, #unavailable) "t").
Definition recover_share : val := λ: "L" "s" "t",
  submit "L" (switch_event "s" (SOME #down_job) (#no_job, #idle) "t").

(** A node is a list of shares; they fail one by one, anything may come between. *)
Definition fail_node : val := rec: "go" "L" "node" "t" :=
  match: "node" with
    NONE => #()
  | SOME "p" => fail_share "L" (Fst "p") "t";; "go" "L" (Snd "p") "t"
  end.

Definition read_counter : val := λ: "L" "k",
  acquire (the_lock "L");;
  let: "a" := match: get same_number (the_counters "L") "k" with NONE => #0 | SOME "a" => "a" end in
  release (the_lock "L");;
  "a".

Definition cell_elapsed : val := λ: "c", cell_cursor "c" - cell_registered "c".
Definition itself : val := λ: "x", "x".

(** Do the counters, the time of all shares and the total agree?  The first is
    called with the lock held. *)
Definition adds_up : val := λ: "L",
  let: "owned" := sum itself (the_counters "L") in
  let: "elapsed" := sum cell_elapsed (the_shares "L") in
  let: "total" := !(the_total "L") in
  ("owned" = "total") && ("elapsed" = "total").

Definition audit : val := λ: "L",
  acquire (the_lock "L");;
  let: "b" := adds_up "L" in
  release (the_lock "L");;
  "b".

(** ** How the model's values are written in HeapLang *)
Definition enc_holding (o : holding) : val := (#(o.1 : nat), #(o.2 : nat))%V.
Definition enc_cell (c : cell) : val :=
  (#(registered c : nat), (#(cursor c : nat), enc_holding (holder c)))%V.
Definition enc_expected (x : option job) : val :=
  match x with None => NONEV | Some j => SOMEV #(j : nat) end.
Definition enc_event (e : event) : val :=
  match e with
  | Register s t => (#s, InjLV #t)
  | Switch s x next t => (#s, InjRV (InjLV (enc_expected x, (enc_holding next, #t))))
  | Settle s t => (#s, InjRV (InjRV #t))
  end.
Fixpoint enc_node (ss : list share) : val :=
  match ss with [] => NONEV | s :: ss => SOMEV (#(s : nat), enc_node ss) end.

(** ** Ghost state *)
Class ledgerG Σ := LedgerG {
  ledger_lockG :> lockG Σ;
  ledger_ownersG :> ghost_mapG Σ (share * time) owner;
  ledger_historyG :> inG Σ (mono_listR (leibnizO event));
}.
Definition ledgerΣ : gFunctors :=
  #[lockΣ; ghost_mapΣ (share * time) owner; GFunctor (mono_listR (leibnizO event))].
Global Instance subG_ledgerΣ {Σ} : subG ledgerΣ Σ → ledgerG Σ.
Proof. solve_inG. Qed.

Section proof.
Context `{!heapGS Σ, !ledgerG Σ}.

Record names := Names { name_owners : gname; name_history : gname; name_lock : gname }.
Implicit Types γ : names.

(** Tick [i] of share [s] belongs to [k], for ever. *)
Definition attributed γ (s : share) (i : time) (k : owner) : iProp Σ :=
  (s, i) ↪[name_owners γ]□ k.

(** The history began with [h]. *)
Definition history γ (h : list event) : iProp Σ :=
  own (name_history γ) (◯ML (h : list (leibnizO event))).

Global Instance attributed_persistent γ s i k : Persistent (attributed γ s i k).
Proof. apply _. Qed.
Global Instance history_persistent γ h : Persistent (history γ h).
Proof. apply _. Qed.

(** Two receipts for one tick name one owner. *)
Lemma attributed_agree γ s i k k' :
  attributed γ s i k -∗ attributed γ s i k' -∗ ⌜k = k'⌝.
Proof. iIntros "H H'". iApply (ghost_map_elem_agree with "H H'"). Qed.

(** Two observers see one history. *)
Lemma history_agree γ h h' :
  history γ h -∗ history γ h' -∗ ⌜h `prefix_of` h' ∨ h' `prefix_of` h⌝.
Proof.
  iIntros "H H'". iDestruct (own_valid_2 with "H H'") as %Hv.
  iPureIntro. by apply mono_list_lb_op_valid_1_L in Hv.
Qed.

Definition in_memory (shs cnt tot : loc) (L : ledger) : iProp Σ :=
  is_map enc_number enc_cell shs (shares L) ∗
  is_map enc_number enc_number cnt (counters L) ∗ tot ↦ #(total L).

Definition ghosts γ (h : list event) : iProp Σ :=
  own (name_history γ) (●ML (h : list (leibnizO event))) ∗
  ghost_map_auth (name_owners γ) 1 (owners_after h).

(** What the lock protects. *)
Definition protected γ (shs cnt tot : loc) : iProp Σ :=
  ∃ h, in_memory shs cnt tot (state_after h) ∗ ghosts γ h.

Definition is_ledger γ (L : val) : iProp Σ :=
  ∃ (lk : val) (shs cnt tot : loc),
    ⌜L = (lk, (#shs, (#cnt, #tot)))%V⌝ ∗ is_lock (name_lock γ) lk (protected γ shs cnt tot).

Global Instance is_ledger_persistent γ L : Persistent (is_ledger γ L).
Proof. apply _. Qed.

(** What a caller gets for event [e] and answer [b]: the history [h] at the
    moment the call took effect, the model's answer there, and the receipts. *)
Definition receipts γ (L : ledger) (e : event) : iProp Σ :=
  match switched L e with
  | Some (c, _, t) =>
      [∗ list] i ∈ seq (cursor c) (charged c t), attributed γ (share_of e) i (holder c).2
  | None => True
  end.

Definition happened γ (e : event) (b : bool) : iProp Σ :=
  ∃ h, ⌜b = fires (state_after h) e⌝ ∗ history γ (h ++ [e]) ∗ receipts γ (state_after h) e.

(** ** The ghost step, once for all events *)
Lemma fill_update γ (s : share) (c n : nat) (k : owner) (M : attribution) :
  blank s c M →
  ghost_map_auth (name_owners γ) 1 M ==∗
    ghost_map_auth (name_owners γ) 1 (fill s c n k M) ∗
    [∗ list] i ∈ seq c n, attributed γ s i k.
Proof.
  iIntros (Hb) "HM". iInduction n as [|n] "IH".
  { simpl. by iFrame. }
  iMod ("IH" with "HM") as "[HM Hl]".
  iMod (ghost_map_insert_persist (s, c + n) k with "HM") as "[HM Hk]".
  { rewrite fill_elsewhere; [apply Hb; lia|lia]. }
  iModIntro. iFrame "HM". rewrite seq_S big_sepL_app. iFrame "Hl". by iFrame "Hk".
Qed.

Lemma state_after_snoc h e : state_after (h ++ [e]) = step (state_after h) e.
Proof. unfold state_after. by rewrite run_app. Qed.

Lemma owners_after_snoc h e :
  owners_after (h ++ [e]) = attribute (state_after h) (owners_after h) e.
Proof. unfold owners_after. by rewrite attribute_all_app. Qed.

Lemma ghost_step γ h e :
  ghosts γ h ==∗ ghosts γ (h ++ [e]) ∗ happened γ e (fires (state_after h) e).
Proof.
  iIntros "[Hh HM]".
  iMod (own_update _ _ (●ML (h ++ [e] : list (leibnizO event))) with "Hh") as "Hh".
  { apply mono_list_update. by apply prefix_app_r. }
  iAssert (history γ (h ++ [e])) as "#Hlb".
  { iApply (own_mono with "Hh"). apply mono_list_included. }
  iAssert (|==> ghost_map_auth (name_owners γ) 1 (owners_after (h ++ [e])) ∗
    receipts γ (state_after h) e)%I with "[HM]" as ">[HM Hr]".
  { rewrite owners_after_snoc /attribute /receipts.
    destruct (switched (state_after h) e) as [[[c next] t]|] eqn:Hsw; [|by iFrame].
    iApply (fill_update with "HM"). eapply sound_blank; [apply sound_history|].
    by eapply switched_cell. }
  iModIntro. iFrame "Hh HM". iExists h. by iFrame "Hlb Hr".
Qed.

(** ** Operations *)
Lemma new_ledger_spec : {{{ True }}} new_ledger #() {{{ L γ, RET L; is_ledger γ L }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam.
  wp_apply (new_map_spec enc_number enc_cell with "[//]"). iIntros (shs) "Hshs". wp_pures.
  wp_apply (new_map_spec enc_number enc_number with "[//]"). iIntros (cnt) "Hcnt". wp_pures.
  wp_alloc tot as "Htot". wp_pures.
  iMod (ghost_map_alloc_empty (K := share * time) (V := owner)) as (γo) "HM".
  iMod (own_alloc (●ML ([] : list (leibnizO event)))) as (γh) "Hh".
  { apply mono_list_auth_valid. }
  wp_apply (newlock_spec (protected (Names γo γh γh) shs cnt tot)
    with "[Hshs Hcnt Htot HM Hh]").
  { iExists []. by iFrame. }
  iIntros (lk γl) "#Hlk". wp_pures. iApply ("HΦ" $! _ (Names γo γh γl)).
  iModIntro. iExists lk, shs, cnt, tot. by iSplit.
Qed.

Lemma charge_share_spec (lk : val) (shs cnt tot : loc) (L : ledger) (s : share) c next (t : time) :
  {{{ in_memory shs cnt tot L }}}
    charge_share (lk, (#shs, (#cnt, #tot)))%V #s (enc_cell c) (enc_holding next) #t
  {{{ RET #(); in_memory shs cnt tot (charge L s c next t) }}}.
Proof.
  iIntros (Φ) "(Hshs & Hcnt & Htot) HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  wp_bind (If _ _ _).
  iApply (wp_wand _ _ _ (λ v, ⌜v = #(charged c t)⌝)%I).
  { wp_pures. case_bool_decide as Hlt; wp_pures; iPureIntro; unfold charged; do 2 f_equal; lia. }
  iIntros (? ->). wp_pures. wp_lam. wp_pures. wp_lam. wp_pures.
  wp_apply (get_spec _ _ _ _ _ (holder c).2 same_number_spec with "Hcnt"). iIntros "Hcnt".
  wp_bind (Case _ _ _).
  iApply (wp_wand _ _ _ (λ v, ⌜v = #(counter L (holder c).2)⌝)%I).
  { rewrite /counter. destruct (counters L !! (holder c).2); simpl; by wp_pures. }
  iIntros (? ->). wp_pures. wp_lam. wp_pures. wp_lam. wp_pures.
  rewrite -!Nat2Z.inj_add.
  wp_apply (put_spec _ enc_cell _ _ _ s (Cell (registered c) (cursor c + charged c t) next)
    same_number_spec with "Hshs"). iIntros "Hshs". wp_pures. wp_lam. wp_pures.
  rewrite -!Nat2Z.inj_add.
  wp_apply (put_spec _ enc_number _ _ _ (holder c).2 (counter L (holder c).2 + charged c t)
    same_number_spec with "Hcnt"). iIntros "Hcnt". wp_pures.
  wp_lam. wp_pures. wp_load. wp_pures. wp_lam. wp_pures. wp_store.
  rewrite -!Nat2Z.inj_add. iApply "HΦ". by iFrame.
Qed.

Lemma guard_holds_spec (x : option job) (j : job) :
  {{{ True }}} guard_holds (enc_expected x) #(j : nat) {{{ RET #(admits x j); True }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam. wp_pures. destruct x as [j'|]; simpl; wp_pures.
  - rewrite equal_numbers. by iApply "HΦ".
  - by iApply "HΦ".
Qed.

(** The program does to the memory what the model does to the ledger. *)
Lemma apply_event_spec (lk : val) (shs cnt tot : loc) (L : ledger) (e : event) :
  {{{ in_memory shs cnt tot L }}} apply_event (lk, (#shs, (#cnt, #tot)))%V (enc_event e)
  {{{ RET #(fires L e); in_memory shs cnt tot (step L e) }}}.
Proof.
  iIntros (Φ) "(Hshs & Hcnt & Htot) HΦ". wp_lam. wp_pures.
  assert (∃ what, enc_event e = (#(share_of e), what)%V) as [what He] by (destruct e; eauto).
  rewrite He. wp_pures. wp_lam. wp_pures.
  wp_apply (get_spec _ _ _ _ _ (share_of e) same_number_spec with "Hshs"). iIntros "Hshs".
  wp_pures. rewrite /fires /step.
  destruct e as [s t|s x next t|s t]; injection He as <-; simpl;
    destruct (shares L !! s) as [c|]; simpl; wp_pures.
  - iApply "HΦ". by iFrame.
  - wp_lam. wp_pures.
    wp_apply (put_spec _ enc_cell _ _ _ s (Cell t t (no_job, idle)) same_number_spec
      with "Hshs"). iIntros "Hshs". wp_pures. iApply "HΦ". by iFrame.
  - wp_lam. wp_pures. wp_apply (guard_holds_spec with "[//]"). iIntros "_".
    destruct (admits x (holder c).1); wp_pures; [|by iApply "HΦ"; iFrame].
    wp_apply (charge_share_spec with "[$Hshs $Hcnt $Htot]"). iIntros "Hm".
    wp_pures. by iApply "HΦ".
  - iApply "HΦ". by iFrame.
  - wp_lam. wp_pures.
    wp_apply (charge_share_spec _ _ _ _ _ _ c (holder c) with "[$Hshs $Hcnt $Htot]").
    iIntros "Hm". wp_pures. by iApply "HΦ".
  - iApply "HΦ". by iFrame.
Qed.

(** The central specification: for every event, by any thread, at any time. *)
Lemma submit_spec γ L (e : event) :
  {{{ is_ledger γ L }}} submit L (enc_event e) {{{ (b : bool), RET #b; happened γ e b }}}.
Proof.
  iIntros (Φ) "(%lk & %shs & %cnt & %tot & -> & #Hlk) HΦ". wp_lam. wp_pures.
  wp_lam. wp_pures. wp_apply (acquire_spec with "Hlk").
  iIntros "(Hlocked & %h & Hm & Hg)". wp_pures.
  wp_apply (apply_event_spec with "Hm"). iIntros "Hm".
  iMod (ghost_step γ h e with "Hg") as "[Hg Hh]". rewrite -state_after_snoc.
  wp_pures. wp_lam. wp_pures.
  wp_apply (release_spec with "[$Hlk $Hlocked Hm Hg]").
  { iExists _. iFrame. }
  iIntros "_". wp_pures. by iApply "HΦ".
Qed.

Lemma register_share_spec γ L (s t : nat) :
  {{{ is_ledger γ L }}} register_share L #s #t
  {{{ (b : bool), RET #b; happened γ (Register s t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  by wp_apply (submit_spec _ _ (Register s t) with "HL").
Qed.

Lemma settle_share_spec γ L (s t : nat) :
  {{{ is_ledger γ L }}} settle_share L #s #t
  {{{ (b : bool), RET #b; happened γ (Settle s t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  by wp_apply (submit_spec _ _ (Settle s t) with "HL").
Qed.

Lemma start_job_spec γ L (s j k t : nat) :
  {{{ is_ledger γ L }}} start_job L #s #j #k #t
  {{{ (b : bool), RET #b; happened γ (start s j k t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  by wp_apply (submit_spec _ _ (start s j k t) with "HL").
Qed.

Lemma stop_job_spec γ L (s j t : nat) :
  {{{ is_ledger γ L }}} stop_job L #s #j #t
  {{{ (b : bool), RET #b; happened γ (stop s j t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  by wp_apply (submit_spec _ _ (stop s j t) with "HL").
Qed.

Lemma preempt_job_spec γ L (s victim j k t : nat) :
  {{{ is_ledger γ L }}} preempt_job L #s #victim #j #k #t
  {{{ (b : bool), RET #b; happened γ (preempt s victim j k t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  by wp_apply (submit_spec _ _ (preempt s victim j k t) with "HL").
Qed.

Lemma fail_share_spec γ L (s t : nat) :
  {{{ is_ledger γ L }}} fail_share L #s #t
  {{{ (b : bool), RET #b; happened γ (fail s t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  by wp_apply (submit_spec _ _ (fail s t) with "HL").
Qed.

Lemma recover_share_spec γ L (s t : nat) :
  {{{ is_ledger γ L }}} recover_share L #s #t
  {{{ (b : bool), RET #b; happened γ (recover s t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". wp_lam. wp_pures. wp_lam. wp_pures.
  by wp_apply (submit_spec _ _ (recover s t) with "HL").
Qed.

Lemma fail_node_spec γ L (node : list share) (t : nat) :
  {{{ is_ledger γ L }}} fail_node L (enc_node node) #t
  {{{ RET #(); [∗ list] s ∈ node, ∃ b, happened γ (fail s t) b }}}.
Proof.
  iIntros (Φ) "#HL HΦ". iInduction node as [|s node] "IH" forall (Φ); simpl.
  - wp_lam. wp_pures. by iApply "HΦ".
  - wp_lam. wp_pures. wp_apply (fail_share_spec with "HL"). iIntros (b) "Hb".
    wp_pures. iApply "IH". iIntros "!> Hbs". iApply "HΦ". iFrame "Hbs". by iExists b.
Qed.

(** A counter that is read is the number of the owner's ticks in some history
    that everyone agrees on. *)
Lemma read_counter_spec γ L (k : nat) :
  {{{ is_ledger γ L }}} read_counter L #k
  {{{ h, RET #(ticks_of k (owners_after h)); history γ h }}}.
Proof.
  iIntros (Φ) "(%lk & %shs & %cnt & %tot & -> & #Hlk) HΦ". wp_lam. wp_pures.
  wp_lam. wp_pures. wp_apply (acquire_spec with "Hlk").
  iIntros "(Hlocked & %h & (Hshs & Hcnt & Htot) & Hh & HM)". wp_pures. wp_lam. wp_pures.
  wp_apply (get_spec _ _ _ _ _ k same_number_spec with "Hcnt"). iIntros "Hcnt".
  iAssert (history γ h) as "#Hlb".
  { iApply (own_mono with "Hh"). apply mono_list_included. }
  wp_bind (Case _ _ _).
  iApply (wp_wand _ _ _ (λ v, ⌜v = #(counter (state_after h) k)⌝)%I).
  { rewrite /counter. destruct (counters (state_after h) !! k); simpl; by wp_pures. }
  iIntros (? ->). wp_pures. wp_lam. wp_pures.
  wp_apply (release_spec with "[$Hlk $Hlocked Hshs Hcnt Htot Hh HM]").
  { iExists h. iFrame. }
  iIntros "_". wp_pures. rewrite counter_is_number_of_ticks. by iApply "HΦ".
Qed.

Lemma adds_up_spec (lk : val) (shs cnt tot : loc) h :
  {{{ in_memory shs cnt tot (state_after h) }}} adds_up (lk, (#shs, (#cnt, #tot)))%V
  {{{ RET #true; in_memory shs cnt tot (state_after h) }}}.
Proof.
  iIntros (Φ) "(Hshs & Hcnt & Htot) HΦ". wp_lam. wp_lam. wp_pures.
  wp_apply (sum_spec _ _ id with "Hcnt").
  { iIntros (k a _ Ψ) "_ HΨ". wp_lam. by iApply "HΨ". }
  iIntros "Hcnt". wp_pures. wp_lam. wp_pures.
  pose proof (sound_order _ _ (sound_history h)) as Hord.
  wp_apply (sum_spec _ _ elapsed with "Hshs").
  { iIntros (s c Hc Ψ) "_ HΨ". apply Hord in Hc. wp_lam. wp_lam. wp_pures. wp_lam. wp_pures.
    rewrite -Nat2Z.inj_sub; [|done]. by iApply "HΨ". }
  iIntros "Hshs". wp_pures. wp_lam. wp_pures. wp_load. wp_pures.
  destruct (conservation h) as [-> ->].
  rewrite bool_decide_eq_true_2 //. wp_pures.
  rewrite bool_decide_eq_true_2 //. iApply "HΦ". by iFrame.
Qed.

(** Whoever looks, whenever: owned = elapsed = measured. *)
Lemma audit_spec γ L : {{{ is_ledger γ L }}} audit L {{{ RET #true; True }}}.
Proof.
  iIntros (Φ) "(%lk & %shs & %cnt & %tot & -> & #Hlk) HΦ". wp_lam. wp_pures.
  wp_lam. wp_pures. wp_apply (acquire_spec with "Hlk").
  iIntros "(Hlocked & %h & Hm & Hg)". wp_pures.
  wp_apply (adds_up_spec with "Hm"). iIntros "Hm". wp_pures. wp_lam. wp_pures.
  wp_apply (release_spec with "[$Hlk $Hlocked Hm Hg]").
  { iExists h. iFrame. }
  iIntros "_". wp_pures. by iApply "HΦ".
Qed.
End proof.

(** ** A closed program
    Two nodes, shares that are added while others run, jobs that start, stop, are
    preempted and fail, all racing.  A HeapLang program with no assumptions left
    over: it never gets stuck, and its audit can only return true. *)
Definition race : expr :=
  let: "L" := new_ledger #() in
  Fork (register_share "L" #0 #0;; start_job "L" #0 #10 #2 #5;; stop_job "L" #0 #10 #40);;
  Fork (register_share "L" #1 #3;; start_job "L" #1 #11 #3 #7;; stop_job "L" #1 #11 #9);;
  Fork (preempt_job "L" #0 #10 #12 #4 #20;; stop_job "L" #0 #12 #30);;
  Fork (fail_node "L" (enc_node [0; 1]) #25;; recover_share "L" #0 #35);;
  Fork (register_share "L" #2 #12;; settle_share "L" #2 #50;; read_counter "L" #0);;
  audit "L".

Lemma race_spec `{!heapGS Σ, !ledgerG Σ} : ⊢ WP race {{ v, ⌜v = #true⌝ }}.
Proof.
  rewrite /race. wp_apply (new_ledger_spec with "[//]"). iIntros (L γ) "#HL". wp_pures.
  wp_apply wp_fork.
  { wp_apply (register_share_spec _ _ 0 0 with "HL"). iIntros (?) "_". wp_pures.
    wp_apply (start_job_spec _ _ 0 10 2 5 with "HL"). iIntros (?) "_". wp_pures.
    wp_apply (stop_job_spec _ _ 0 10 40 with "HL"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (register_share_spec _ _ 1 3 with "HL"). iIntros (?) "_". wp_pures.
    wp_apply (start_job_spec _ _ 1 11 3 7 with "HL"). iIntros (?) "_". wp_pures.
    wp_apply (stop_job_spec _ _ 1 11 9 with "HL"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (preempt_job_spec _ _ 0 10 12 4 20 with "HL"). iIntros (?) "_". wp_pures.
    wp_apply (stop_job_spec _ _ 0 12 30 with "HL"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (fail_node_spec _ _ [0; 1] 25 with "HL"). iIntros "_". wp_pures.
    wp_apply (recover_share_spec _ _ 0 35 with "HL"). by iIntros. }
  wp_pures. wp_apply wp_fork.
  { wp_apply (register_share_spec _ _ 2 12 with "HL"). iIntros (?) "_". wp_pures.
    wp_apply (settle_share_spec _ _ 2 50 with "HL"). iIntros (?) "_". wp_pures.
    wp_apply (read_counter_spec _ _ 0 with "HL"). by iIntros. }
  wp_pures. by wp_apply (audit_spec with "HL").
Qed.

Theorem race_is_safe σ : adequate NotStuck race σ (λ v _, v = #true).
Proof.
  set (Σ := #[heapΣ; ledgerΣ]).
  apply (heap_adequacy Σ NotStuck race σ (λ v, v = #true)).
  iIntros (?) "_". iApply race_spec.
Qed.

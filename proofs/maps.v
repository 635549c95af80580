(** Maps that grow, in HeapLang: a reference to an immutable association list.

    [is_map r m] says that the reference [r] holds the finite map [m].  Reading a
    key, writing a key (new or not) and summing over the whole map are all that
    the ledger needs.  Nothing bounds the number of keys.  A key may be any value
    for which there is a program [same] that compares two. *)
From iris.proofmode Require Import proofmode.
From iris.heap_lang Require Import proofmode notation.
From iris.prelude Require Import options.
From bailiwick Require Import model.

(** ** Code *)
Definition find (same : val) : val := rec: "go" "l" "k" :=
  match: "l" with
    NONE => NONE
  | SOME "p" =>
      if: same (Fst (Fst "p")) "k" then SOME (Snd (Fst "p")) else "go" (Snd "p") "k"
  end.

Definition set (same : val) : val := rec: "go" "l" "k" "v" :=
  match: "l" with
    NONE => SOME (("k", "v"), NONE)
  | SOME "p" =>
      if: same (Fst (Fst "p")) "k" then SOME (("k", "v"), Snd "p")
      else SOME (Fst "p", "go" (Snd "p") "k" "v")
  end.

Definition fold_sum : val := rec: "go" "f" "l" :=
  match: "l" with
    NONE => #0
  | SOME "p" => "f" (Snd (Fst "p")) + "go" "f" (Snd "p")
  end.

Definition new_map : val := λ: <>, ref NONE.
Definition get (same : val) : val := λ: "r" "k", find same (!"r") "k".
Definition put (same : val) : val := λ: "r" "k" "v", "r" <- set same (!"r") "k" "v".
Definition sum : val := λ: "f" "r", fold_sum "f" (!"r").

Definition same_number : val := λ: "a" "b", "a" = "b".

(** ** The same on paper *)
Section pure.
Context `{Countable K} {A : Type}.
Implicit Types (l : list (K * A)) (m : gmap K A).

Fixpoint list_set l (k : K) (a : A) : list (K * A) :=
  match l with
  | [] => [(k, a)]
  | (k', a') :: l => if decide (k' = k) then (k, a) :: l else (k', a') :: list_set l k a
  end.

(** The list [l] spells the map [m], each key once. *)
Definition spells l m : Prop := NoDup l.*1 ∧ m = list_to_map l.

Lemma list_set_map l k a :
  (list_to_map (list_set l k a) : gmap K A) = <[k := a]> (list_to_map l).
Proof.
  induction l as [|[k' a'] l IH]; [done|]. simpl. case_decide as Hk; simpl.
  - subst k'. by rewrite insert_insert.
  - rewrite IH. by apply insert_commute.
Qed.

Lemma list_set_keys l k a k' : k' ∈ (list_set l k a).*1 → k' = k ∨ k' ∈ l.*1.
Proof.
  induction l as [|[k0 a0] l IH]; simpl.
  - rewrite elem_of_list_singleton. by left.
  - case_decide as Hk; simpl; rewrite !elem_of_cons; naive_solver.
Qed.

Lemma list_set_nodup l k a : NoDup l.*1 → NoDup (list_set l k a).*1.
Proof.
  induction l as [|[k' a'] l IH]; simpl.
  - intros _. apply NoDup_singleton.
  - intros [Hk' Hl]%NoDup_cons. case_decide as Hk; simpl; apply NoDup_cons.
    + by subst k'.
    + split; [|by apply IH]. intros [?|?]%list_set_keys; done.
Qed.

Lemma spells_set l m k a : spells l m → spells (list_set l k a) (<[k := a]> m).
Proof.
  intros [Hl ->]. split; [by apply list_set_nodup|]. by rewrite list_set_map.
Qed.
End pure.

Lemma spells_sum {A} (f : A → nat) (l : list (nat * A)) m :
  spells l m → sum_list_with (λ kv, f kv.2) l = map_sum f m.
Proof.
  intros [Hl ->]. unfold map_sum. apply sum_reorder. symmetry. by apply map_to_list_to_map.
Qed.

(** ** Specifications *)
Section maps.
Context `{!heapGS Σ} `{Countable K} {A : Type} (enc_key : K → val) (enc : A → val).
Implicit Types (l : list (K * A)) (m : gmap K A).

Fixpoint enc_list l : val :=
  match l with
  | [] => NONEV
  | (k, a) :: l => SOMEV ((enc_key k, enc a), enc_list l)
  end.

Definition enc_option (o : option A) : val :=
  match o with None => NONEV | Some a => SOMEV (enc a) end.

Definition is_map (r : loc) m : iProp Σ := ∃ l, ⌜spells l m⌝ ∗ r ↦ enc_list l.

(** The program [same] compares two keys. *)
Definition compares (same : val) : Prop :=
  ∀ a b, {{{ True }}} same (enc_key a) (enc_key b) {{{ RET #(bool_decide (a = b)); True }}}.

Lemma find_spec same l (k : K) :
  compares same →
  {{{ True }}} find same (enc_list l) (enc_key k)
  {{{ RET enc_option ((list_to_map l : gmap K A) !! k); True }}}.
Proof.
  iIntros (Hs Φ) "_ HΦ". iInduction l as [|[k' a] l] "IH"; simpl.
  - wp_lam. wp_pures. by iApply "HΦ".
  - wp_lam. wp_pures. wp_apply (Hs k' k with "[//]"). iIntros "_".
    case_bool_decide as Hk; wp_pures.
    + subst k'. rewrite lookup_insert. by iApply "HΦ".
    + rewrite lookup_insert_ne //. by iApply "IH".
Qed.

Lemma set_spec same l (k : K) (a : A) :
  compares same →
  {{{ True }}} set same (enc_list l) (enc_key k) (enc a)
  {{{ RET enc_list (list_set l k a); True }}}.
Proof.
  iIntros (Hs Φ) "_ HΦ". iInduction l as [|[k' a'] l] "IH" forall (Φ); simpl.
  - wp_lam. wp_pures. by iApply "HΦ".
  - wp_lam. wp_pures. wp_apply (Hs k' k with "[//]"). iIntros "_".
    case_bool_decide as Hk; wp_pures.
    + rewrite decide_True //. by iApply "HΦ".
    + rewrite decide_False //. wp_apply "IH". iIntros "_". wp_pures. by iApply "HΦ".
Qed.

Lemma new_map_spec : {{{ True }}} new_map #() {{{ (r : loc), RET #r; is_map r ∅ }}}.
Proof.
  iIntros (Φ) "_ HΦ". wp_lam. wp_alloc r as "Hr". iApply "HΦ". iModIntro.
  iExists []. iFrame. iPureIntro. split; [apply NoDup_nil_2|done].
Qed.

Lemma get_spec same r m (k : K) :
  compares same →
  {{{ is_map r m }}} get same #r (enc_key k) {{{ RET enc_option (m !! k); is_map r m }}}.
Proof.
  iIntros (Hs Φ) "(%l & %Hl & Hr) HΦ". wp_lam. wp_pures. wp_load.
  wp_apply (find_spec with "[//]"); [done|]. iIntros "_".
  destruct Hl as [Hl Hm]. rewrite -Hm. iApply "HΦ". iExists l. by iFrame.
Qed.

Lemma put_spec same r m (k : K) (a : A) :
  compares same →
  {{{ is_map r m }}} put same #r (enc_key k) (enc a) {{{ RET #(); is_map r (<[k := a]> m) }}}.
Proof.
  iIntros (Hs Φ) "(%l & %Hl & Hr) HΦ". wp_lam. wp_pures. wp_load.
  wp_apply (set_spec with "[//]"); [done|]. iIntros "_". wp_store. iApply "HΦ". iModIntro.
  iExists _. iFrame. iPureIntro. by apply spells_set.
Qed.
End maps.

Definition enc_number (n : nat) : val := #n.

Section numbers.
Context `{!heapGS Σ}.

Lemma equal_numbers (a b : nat) : bool_decide (#a = #b) = bool_decide (a = b).
Proof. apply bool_decide_ext. split; [intros [= ?]; lia|by intros ->]. Qed.

Lemma same_number_spec : compares enc_number same_number.
Proof.
  iIntros (a b Φ) "_ HΦ". wp_lam. wp_pures. rewrite equal_numbers. by iApply "HΦ".
Qed.

Lemma fold_sum_spec {A} (enc : A → val) (f : val) (F : A → nat) (l : list (nat * A)) :
  (∀ k a, (k, a) ∈ l → {{{ True }}} f (enc a) {{{ RET #(F a); True }}}) →
  {{{ True }}} fold_sum f (enc_list enc_number enc l)
  {{{ RET #(sum_list_with (λ kv, F kv.2) l); True }}}.
Proof.
  iIntros (Hf Φ) "_ HΦ". iInduction l as [|[k a] l] "IH" forall (Φ Hf); simpl.
  - wp_lam. wp_pures. by iApply "HΦ".
  - wp_lam. wp_pures. wp_bind (fold_sum _ _). iApply "IH".
    { iPureIntro. intros k' a' Hin. apply (Hf k'). by right. }
    assert ((k, a) ∈ (k, a) :: l) as Ha by left.
    iIntros "!> _". wp_pures. wp_apply (Hf k a Ha with "[//]"). iIntros "_".
    wp_pures. rewrite -Nat2Z.inj_add. by iApply "HΦ".
Qed.

Lemma sum_spec {A} (enc : A → val) (f : val) (F : A → nat) r (m : gmap nat A) :
  (∀ k a, m !! k = Some a → {{{ True }}} f (enc a) {{{ RET #(F a); True }}}) →
  {{{ is_map enc_number enc r m }}} sum f #r
  {{{ RET #(map_sum F m); is_map enc_number enc r m }}}.
Proof.
  iIntros (Hf Φ) "(%l & %Hl & Hr) HΦ". wp_lam. wp_pures. wp_load.
  wp_apply (fold_sum_spec with "[//]").
  { intros k a Hin. apply (Hf k). destruct Hl as [Hl ->]. by apply elem_of_list_to_map_1. }
  iIntros "_". rewrite (spells_sum F l m) //. iApply "HΦ". iExists l. by iFrame.
Qed.
End numbers.

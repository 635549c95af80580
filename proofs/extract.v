(** The reference, as OCaml: the very definitions the theorems are about.

    Numbers become OCaml's 63-bit integers.  One function is replaced by hand,
    for speed only: turning a number into the binary form that is the key of a
    map, which Coq's library does by counting up to it. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From stdpp Require Import gmap.
From iris.prelude Require Import prelude options.
From bailiwick Require Import model sources.

(** Plain lists and options for the program around it. *)
Definition cell_of (L : ledger) (s : share) : option cell := shares L !! s.
Definition all_cells (L : ledger) : list (share * cell) := map_to_list (shares L).
Definition all_counters (L : ledger) : list (owner * nat) := map_to_list (counters L).

Extraction Language OCaml.
Extract Constant Pos.of_succ_nat =>
  "(fun n -> let rec bits k = if k = 1 then XH else if k land 1 = 1 then XI (bits (k lsr 1)) else XO (bits (k lsr 1)) in bits (n + 1))".
Extraction "reference.ml"
  no_shares step fires cell_of counter all_cells all_counters
  nothing_yet judge receive.

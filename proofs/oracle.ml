(* Replays a meter's journal on the reference extracted from the proofs, and
   stops at the first line where the meter and the reference differ.

   usage: oracle < journal        The lines are described in README.md.
   exit:  0 same throughout, 1 a difference, 2 a line that cannot be read *)

open Reference

exception Unreadable
exception Differs of string

let differs fmt = Printf.ksprintf (fun text -> raise (Differs text)) fmt

let number text =
  match int_of_string_opt text with
  | Some n when n >= 0 -> n
  | _ -> raise Unreadable

(* "7" is one share; "0-999" is a thousand of them. *)
let shares text =
  match List.map number (String.split_on_char '-' text) with
  | [ one ] -> [ one ]
  | [ first; last ] when first <= last -> List.init (last - first + 1) (fun i -> first + i)
  | _ -> raise Unreadable

let flag = function "1" -> true | "0" -> false | _ -> raise Unreadable

let event = function
  | [ "register"; share; time ] -> Register (number share, number time)
  | [ "settle"; share; time ] -> Settle (number share, number time)
  | [ "switch"; share; expected; job; owner; time ] ->
      let expected = if expected = "-" then None else Some (number expected) in
      Switch (number share, expected, (number job, number owner), number time)
  | _ -> raise Unreadable

let word = function
  | Accepted -> "accepted"
  | Duplicate -> "duplicate"
  | Conflict -> "conflict"
  | Early -> "early"
  | Fenced -> "fenced"

(* A meter's journal is either direct operations or deliveries, never both. *)
type kind = Unknown | Direct | Delivered

let state = ref nothing_yet
let kind = ref Unknown
let operations = ref 0
let checks = ref 0

(* Jobs up to this one stand for nobody's: idle, away, or a reason to be so. *)
let nobody = ref 1

(* Jobs that were ever installed on a share: a number must not come back. *)
let installed : (int * int, unit) Hashtbl.t = Hashtbl.create 1024

let check_job_number event =
  match event with
  | Switch (share, _, (job, _), _) when job > !nobody && fires !state.book event ->
      let holds_now =
        match cell_of !state.book share with
        | Some cell -> fst cell.holder = job
        | None -> false
      in
      if Hashtbl.mem installed (share, job) && not holds_now then
        differs "job %d comes back to share %d: job numbers must be unique" job share;
      Hashtbl.replace installed (share, job) ()
  | _ -> ()

let be wanted =
  if !kind = Unknown then kind := wanted;
  if !kind <> wanted then differs "direct operations and deliveries in one journal";
  incr operations

let operate event answer =
  be Direct;
  let expected = fires !state.book event in
  if expected <> answer then
    differs "the reference %s, the meter answered %b"
      (if expected then "takes effect" else "refuses") answer;
  check_job_number event;
  state := { !state with book = step !state.book event }

let deliver message answer =
  be Delivered;
  let expected = judge !state message in
  if word expected <> answer then
    differs "the reference says %s, the meter answered %s" (word expected) answer;
  if expected = Accepted then check_job_number message.payload;
  (* The reference never reads its own journal; dropping it keeps this fast. *)
  state := { (receive !state message) with journal = [] }

let check_share share registered cursor job owner =
  match cell_of !state.book share with
  | None -> differs "the reference has no share %d" share
  | Some cell ->
      let reference = (cell.registered, cell.cursor, cell.holder) in
      if reference <> (registered, cursor, (job, owner)) then
        differs "share %d is %d %d %d %d in the reference" share cell.registered
          cell.cursor (fst cell.holder) (snd cell.holder)

let check_number what reference meter =
  if reference <> meter then differs "%s is %d in the reference" what reference

(* "a:b,c:d" to [[a; b]; [c; d]]; "-" is the empty list. *)
let rows text =
  if text = "-" then []
  else
    List.map
      (fun row -> List.map number (String.split_on_char ':' row))
      (String.split_on_char ',' text)

let check_all total cells counters =
  let book = !state.book in
  let cell (share, c) = [ share; c.registered; c.cursor; fst c.holder; snd c.holder ] in
  let sorted l = List.sort compare l in
  let nonzero = List.filter (fun row -> row <> [] && List.nth row 1 <> 0) in
  check_number "the total" book.total total;
  if sorted (List.map cell (all_cells book)) <> sorted cells then
    differs "the shares are not those of the reference";
  let reference = List.map (fun (owner, n) -> [ owner; n ]) (all_counters book) in
  if sorted (nonzero reference) <> sorted (nonzero counters) then
    differs "the counters are not those of the reference"

let checking f = incr checks; f ()

let last_of words =
  match List.rev words with
  | last :: rest -> (List.rev rest, last)
  | [] -> raise Unreadable

let line text =
  match List.filter (( <> ) "") (String.split_on_char ' ' text) with
  | [] -> ()
  | first :: _ when first.[0] = '#' -> ()
  | (("register" | "switch" | "settle") as verb) :: range :: rest ->
      let rest, answer = last_of rest in
      let one share = operate (event (verb :: string_of_int share :: rest)) (flag answer) in
      List.iter one (shares range)
  | "deliver" :: source :: epoch :: seq :: rest ->
      let words, answer = last_of rest in
      deliver
        { from = number source; epoch = number epoch; number = number seq;
          payload = event words }
        answer
  | [ "share"; range; registered; cursor; job; owner ] ->
      let one share =
        check_share share (number registered) (number cursor) (number job) (number owner)
      in
      checking (fun () -> List.iter one (shares range))
  | [ "counter"; owner; ticks ] ->
      checking (fun () ->
          check_number ("counter " ^ owner) (counter !state.book (number owner)) (number ticks))
  | [ "total"; ticks ] ->
      checking (fun () -> check_number "the total" !state.book.total (number ticks))
  | [ "nobody"; last ] -> nobody := number last
  | [ "state"; total; cells; counters ] ->
      checking (fun () -> check_all (number total) (rows cells) (rows counters))
  | _ -> raise Unreadable

let () =
  let at = ref 0 in
  let stop code what text =
    Printf.printf "%s at line %d: %s\n" what !at text;
    exit code
  in
  (try
     while true do
       let text = input_line stdin in
       incr at;
       try line text with
       | Differs why -> stop 1 "difference" (Printf.sprintf "%s\n  %s" why text)
       | Unreadable | Failure _ -> stop 2 "unreadable" text
     done
   with End_of_file -> ());
  Printf.printf "same: %d operations, %d checks, %d ticks\n" !operations !checks
    !state.book.total

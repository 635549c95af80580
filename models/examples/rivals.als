/*
 * A scheduler under an isolation policy, for Alloy 6.
 *
 * This is the part that is the same for every policy: what work does, step by step, and what must
 * stay true. The world (machines, subjects, rules) and the commands are put in by
 * `bailiwick.isolation.model.alloy`; models/ has whole examples.
 *
 * How to read it:
 * - A job is away, waiting, claiming (waiting for room that others are leaving), running, or
 *   leaving (in its grace, or being torn down: it still counts).
 * - A seat is the smallest piece of a machine that work holds; it touches domains (its cache, its
 *   host, its rack ...). Two jobs meet in the domains that seats of both touch.
 * - The scheduler places whatever its own filter allows (`allowed`). Order, priority and fairness
 *   are left out: any waiting job may be next, and any running one may be evicted for it.
 * - A mark is a window, or the end of an exception. `reach` says which of them a job's term
 *   reaches: whoever reaches a window is judged by it already.
 * - A fault is a sig of which a command allows one or none. With none, the scheduler is as it
 *   should be; with one, a check must find what goes wrong, or the check proves nothing.
 */
module isolation

// ---- the world ------------------------------------------------------------------------------
abstract sig Kind {}
one sig kind_cache, kind_fabric, kind_host extends Kind {}
abstract sig Domain {}
one sig cache_n1_cache0, fabric_n1_fabric0, host_n1, fabric_n1_fabric1, cache_n1_cache1, cache_n2_cache0, fabric_n2_fabric0, host_n2, fabric_n2_fabric1, cache_n2_cache1 extends Domain {}
fun kind : Domain -> Kind {
  cache_n1_cache0 -> (kind_cache)
  + fabric_n1_fabric0 -> (kind_fabric)
  + host_n1 -> (kind_host)
  + fabric_n1_fabric1 -> (kind_fabric)
  + cache_n1_cache1 -> (kind_cache)
  + cache_n2_cache0 -> (kind_cache)
  + fabric_n2_fabric0 -> (kind_fabric)
  + host_n2 -> (kind_host)
  + fabric_n2_fabric1 -> (kind_fabric)
  + cache_n2_cache1 -> (kind_cache)
}
abstract sig Host { var labelled : set Label }
one sig node_n1, node_n2 extends Host {}
abstract sig Seat {}
one sig seat_n1_1, seat_n1_2, seat_n1_3, seat_n1_4, seat_n2_1, seat_n2_2, seat_n2_3, seat_n2_4 extends Seat {}
fun on : Seat -> Host {
  seat_n1_1 -> (node_n1)
  + seat_n1_2 -> (node_n1)
  + seat_n1_3 -> (node_n1)
  + seat_n1_4 -> (node_n1)
  + seat_n2_1 -> (node_n2)
  + seat_n2_2 -> (node_n2)
  + seat_n2_3 -> (node_n2)
  + seat_n2_4 -> (node_n2)
}
fun holds : Seat -> Domain {
  seat_n1_1 -> (cache_n1_cache0 + fabric_n1_fabric0 + host_n1)
  + seat_n1_2 -> (cache_n1_cache0 + fabric_n1_fabric1 + host_n1)
  + seat_n1_3 -> (cache_n1_cache1 + fabric_n1_fabric0 + host_n1)
  + seat_n1_4 -> (cache_n1_cache1 + fabric_n1_fabric1 + host_n1)
  + seat_n2_1 -> (cache_n2_cache0 + fabric_n2_fabric0 + host_n2)
  + seat_n2_2 -> (cache_n2_cache0 + fabric_n2_fabric1 + host_n2)
  + seat_n2_3 -> (cache_n2_cache1 + fabric_n2_fabric0 + host_n2)
  + seat_n2_4 -> (cache_n2_cache1 + fabric_n2_fabric1 + host_n2)
}
sig Label {}
fun first_labels : Host -> Label {
  none -> none
}

// Whom the rules tell apart, and somebody whom none names.
abstract sig Subject {}
one sig who_acme, who_umbrella, who_outsider extends Subject {}
abstract sig Mark {}
one sig mark_night, mark_rule_4 extends Mark {}
sig Linger { var residue : set Domain }
fun keeps : Linger -> Kind {
  none -> none
}
fun keepers : Linger -> Subject {
  none -> none
}

// What a wrong scheduler forgets.
sig Forgets_cache, Forgets_fabric, Forgets_host, FreesEarly, ClaimUncounted, ResidueForgotten, RelabelUnnoticed, GangUncounted, ExpiryIgnored {}
fun forgotten : set Kind {
  (some Forgets_cache => kind_cache else none)
  + (some Forgets_fabric => kind_fabric else none)
  + (some Forgets_host => kind_host else none)
}

// The policy, rule by rule.
// rule-1
fun by_rule_1[j, k : Job] : set Kind {
  (j.subject -> k.subject in (who_acme -> (who_umbrella) + who_umbrella -> (who_acme))) => kind_cache + kind_fabric else none
}
// night
fun by_night[j, k : Job] : set Kind {
  (j.subject -> k.subject in (who_acme -> (who_outsider) + who_umbrella -> (who_outsider) + who_outsider -> (who_acme + who_umbrella)) and mark_night in j.reach & k.reach) => kind_host else none
}
// few
pred by_few[J : set Job, room : Job -> Seat, over : set Kind] {
  some d : kind.(kind_host & over) |
    #{k : J & subject.(who_acme) | d in k.room.holds} > 2
}
fun forbids[j, k : Job] : set Kind {
  by_rule_1[j, k]
  + by_night[j, k]
}
fun excused[j, k : Job] : set Kind {
  ((j.subject -> k.subject in (who_acme) -> (who_umbrella) + (who_umbrella) -> (who_acme) and mark_rule_4 not in j.reach & k.reach) => kind_cache else none)
}
fun excused_for_ever[j, k : Job] : set Kind {
  ((j.subject -> k.subject in (who_acme) -> (who_umbrella) + (who_umbrella) -> (who_acme)) => kind_cache else none)
}
fun needs[j : Job] : set Label {
  none
}
pred crowded[J : set Job, room : Job -> Seat, over : set Kind] { by_few[J, room, over] }

// ---- work -----------------------------------------------------------------------------------
sig Job {
  subject : one Subject,
  var at : set Seat,      // what it holds
  var claim : set Seat,   // what is kept for it
  var reach : set Mark    // which windows and ends of exceptions its term reaches
}
var sig Waiting, Claiming, Running, Leaving in Job {}
var sig Down in Host {}

// ---- what the rules say of two jobs, of one, of a domain --------------------------------------
// `over` is every kind, but for a filter that forgets one.
pred conflict[j, k : Job, S, T : set Seat, over : set Kind] {
  some S.holds & T.holds & kind.((forbids[j, k] - excused[j, k]) & over)
}
pred misplaced[j : Job, S : set Seat] {
  some h : S.on | some needs[j] - h.labelled
}
// Somebody else's residue is in a domain that the seats touch.
pred kept[j : Job, S : set Seat] {
  some r : Linger | j.subject not in r.keepers and some r.residue & S.holds
}

// ---- the scheduler's own filter: the thing under test -----------------------------------------
// Whom it counts: work that leaves still counts, and so does who claims, in the room kept for it.
fun seen : set Job {
  Running + (some FreesEarly => none else Leaving) + (some ClaimUncounted => none else Claiming)
}
// Which kinds an exception frees, for one who does not look when it ends.
fun overlooked[j, k : Job] : set Kind {
  some ExpiryIgnored => excused_for_ever[j, k] else none
}
// `victims` leave for this very job: it does not start before they are gone.
pred allowed[j : Job, S : set Seat, victims : set Job] {
  let others = seen - victims - j - (some GangUncounted => subject.(j.subject) else none) {
    no k : others | conflict[j, k, S, k.(at + claim), Kind - forgotten - overlooked[j, k]]
    not crowded[others + j, (others <: (at + claim)) + j -> S, Kind - forgotten]
  }
  not misplaced[j, S]
  some ResidueForgotten or not kept[j, S]
}
// Seats of one machine that is there, and that are kept for nobody else.
pred usable[j : Job, S : set Seat] {
  some S and one S.on and no S.on & Down and no ((Job - j) <: claim).S
}

// ---- steps ------------------------------------------------------------------------------------
pred init {
  no Claiming and no Running and no Leaving and no Down
  no at and no claim and no residue
  labelled = first_labels
}
pred same_work {
  Waiting' = Waiting and Claiming' = Claiming and Running' = Running and Leaving' = Leaving
}
pred same_rooms { at' = at and claim' = claim }
pred same_nodes { Down' = Down and labelled' = labelled }
pred same_terms { reach' = reach }
pred same_residue { residue' = residue }

// Jobs leave their seats. The last of a rule's subjects in a domain leaves its residue there.
pred vacate[gone : set Job] {
  at' = at - gone -> Seat
  residue' = residue + { r : Linger, d : Domain |
    d.kind in r.keeps
    and (some j : gone | j.subject in r.keepers and d in j.at.holds)
    and (no k : Job - gone | k.subject in r.keepers and d in k.at.holds) }
}

// A job comes, for a term of its own.
pred arrive[j : Job] {
  j not in Waiting + Claiming + Running + Leaving
  Waiting' = Waiting + j and Claiming' = Claiming and Running' = Running and Leaving' = Leaving
  (Job - j) <: reach' = (Job - j) <: reach
  same_rooms and same_nodes and same_residue
}
pred withdraw[j : Job] {
  j in Waiting + Claiming
  Waiting' = Waiting - j and Claiming' = Claiming - j and Running' = Running and Leaving' = Leaving
  at' = at and claim' = claim - j -> Seat
  same_nodes and same_residue and same_terms
}
pred place[j : Job] {
  j in Waiting
  usable[j, j.at'] and no at.(j.at')
  allowed[j, j.at', none]
  at' - j -> Seat = at and claim' = claim
  Waiting' = Waiting - j and Claiming' = Claiming and Running' = Running + j and Leaving' = Leaving
  same_nodes and same_residue and same_terms
}
// Whoever is on the seats has to leave; until they are gone the seats are kept for the claimant.
pred preempt[j : Job] {
  j in Waiting
  usable[j, j.claim']
  let victims = at.(j.claim') {
    some victims
    allowed[j, j.claim', victims]
    Running' = Running - victims and Leaving' = Leaving + victims
  }
  claim' - j -> Seat = claim and at' = at
  Waiting' = Waiting - j and Claiming' = Claiming + j
  same_nodes and same_residue and same_terms
}
// Whom it meets was judged when the room was kept; labels and residues may have changed since.
pred start[j : Job] {
  j in Claiming
  no at.(j.claim)
  not misplaced[j, j.claim]
  some ResidueForgotten or not kept[j, j.claim]
  at' = at + j <: claim and claim' = claim - j -> Seat
  Waiting' = Waiting and Claiming' = Claiming - j and Running' = Running + j and Leaving' = Leaving
  same_nodes and same_residue and same_terms
}
// A drain, a budget, an operator: its grace begins, for nobody's sake.
pred evict[j : Job] {
  j in Running
  Waiting' = Waiting and Claiming' = Claiming and Running' = Running - j and Leaving' = Leaving + j
  same_rooms and same_nodes and same_residue and same_terms
}
// The teardown is confirmed; it waits again.
pred leave[j : Job] {
  j in Leaving
  Waiting' = Waiting + j and Claiming' = Claiming and Running' = Running and Leaving' = Leaving - j
  vacate[j] and claim' = claim
  same_nodes and same_terms
}
pred finish[j : Job] {
  j in Running
  Waiting' = Waiting and Claiming' = Claiming and Running' = Running - j and Leaving' = Leaving
  vacate[j] and claim' = claim
  same_nodes and same_terms
}
// A node is lost with all that ran there, and what was kept there.
pred lose[h : Host] {
  h not in Down and Down' = Down + h and labelled' = labelled
  let hit = at.(on.h), hoped = claim.(on.h) {
    vacate[hit] and claim' = claim - hoped -> Seat
    Waiting' = Waiting + hit + hoped and Claiming' = Claiming - hoped
    Running' = Running - hit and Leaving' = Leaving - hit
  }
  same_terms
}
pred regain[h : Host] {
  h in Down and Down' = Down - h and labelled' = labelled
  same_work and same_rooms and same_residue and same_terms
}
// A node loses a label: who may not be there any more is evicted, and claims there end.
pred unlabel[h : Host, l : Label] {
  l in h.labelled and labelled' = labelled - h -> l and Down' = Down
  let wrong = { j : Running + Claiming |
      h in j.(at + claim).on and l in needs[j] and no RelabelUnnoticed } {
    Running' = Running - wrong and Leaving' = Leaving + (wrong & Running)
    Claiming' = Claiming - wrong and Waiting' = Waiting + (wrong & Claiming)
    claim' = claim - wrong -> Seat and at' = at
  }
  same_residue and same_terms
}
pred label[h : Host, l : Label] {
  l not in h.labelled and labelled' = labelled + h -> l and Down' = Down
  same_work and same_rooms and same_residue and same_terms
}
// The domain was scrubbed, or the residue's time is over.
pred clear[r : Linger, d : Domain] {
  d in r.residue and residue' = residue - r -> d
  same_work and same_rooms and same_nodes and same_terms
}
// A longer term is judged like a new one. (That a window passes is no step: whoever has it behind
// is like one that arrived without reaching it.)
pred renew[j : Job, m : Mark] {
  j in Running and m not in j.reach and reach' = reach + j -> m
  after allowed[j, j.at, none]
  same_work and same_rooms and same_nodes and same_residue
}
pred rest { same_work and same_rooms and same_nodes and same_residue and same_terms }

pred step {
  (some j : Job | arrive[j] or withdraw[j] or place[j] or preempt[j] or start[j] or evict[j]
    or leave[j] or finish[j])
  or (some h : Host | lose[h] or regain[h])
  or (some h : Host, l : Label | unlabel[h, l] or label[h, l])
  or (some r : Linger, d : Domain | clear[r, d])
  or (some j : Job, m : Mark | renew[j, m])
  or rest
}
pred behaviour { init and always step }

// ---- what must stay true ------------------------------------------------------------------------
// A job is in one state and on one machine, and a seat is nobody's or one job's.
pred placed_once {
  no Waiting & (Claiming + Running + Leaving)
  no Claiming & (Running + Leaving) and no Running & Leaving
  all s : Seat | lone at.s and lone claim.s
  all j : Job | lone j.at.on and lone j.claim.on
}
// What holds seats is what runs or leaves; none is on a lost node; who is on kept seats is leaving.
pred no_ghosts {
  Running + Leaving = at.Seat
  Claiming = claim.Seat
  no (Job.at + Job.claim).on & Down
  at.(Job.claim) in Leaving
}
// Nobody meets whom a rule keeps apart. A claimant counts in the room kept for it, but for those
// who leave it.
pred apart {
  no disj j, k : Running + Leaving | conflict[j, k, j.at, k.at, Kind]
  no j : Claiming, k : (Running + Leaving + Claiming) - j - at.(j.claim) |
    conflict[j, k, j.claim, k.(at + claim), Kind]
}
// Whoever runs, or has room kept, is on nodes with the labels it must have.
pred right_nodes { no j : Running + Claiming | misplaced[j, j.(at + claim)] }
// No domain holds more than a rule lets it, whichever claimants start.
pred spread {
  not crowded[Running + Leaving, at, Kind]
  all q1, q2, q3 : Claiming | let q = q1 + q2 + q3 |
    not crowded[(Running + Leaving - at.(q.claim)) + q, at + claim, Kind]
}
pred isolated { apart and right_nodes and spread }
// Nobody comes into a domain that is kept for others.
pred residue_kept { all j : Job | (no j.at and some j.at') implies not kept[j, j.at'] }
// All of it: what one step must keep, so that every number of steps does.
pred sound { placed_once and no_ghosts and isolated }

// ---- commands -----------------------------------------------------------------------------------
// two jobs run while one leaves
run busy { behaviour and eventually (not lone Running and some Leaving) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 5..7 steps expect 1
// rule rule-1 refuses something
run bites_rule_1 { behaviour and eventually (some j : Waiting, k : Running, s : Seat - Job.at | some s.holds & k.at.holds & kind.(by_rule_1[j, k] - excused[j, k])) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// rule night refuses something
run bites_night { behaviour and eventually (some j : Waiting, k : Running, s : Seat - Job.at | some s.holds & k.at.holds & kind.(by_night[j, k] - excused[j, k])) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// rule few refuses something
run bites_few { behaviour and eventually (some j : Waiting, s : Seat - Job.at | not by_few[Running, at, Kind] and by_few[Running + j, at + j -> s, Kind]) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// every rule holds
check holds { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 4..4 steps expect 0
// one step from any sound state keeps every rule
check one_step { (sound and step) implies (residue_kept and after sound) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..2 steps expect 0
// the fault forgets_cache is found
check fault_forgets_cache { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, exactly 1 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// the fault forgets_fabric is found
check fault_forgets_fabric { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, exactly 1 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// the fault forgets_host is found
check fault_forgets_host { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, exactly 1 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// the fault frees_early is found
check fault_frees_early { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, exactly 1 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// the fault claim_uncounted is found
check fault_claim_uncounted { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, exactly 1 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// the fault gang_uncounted is found
check fault_gang_uncounted { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, exactly 1 GangUncounted, 0 ExpiryIgnored, 1..7 steps expect 1
// the fault expiry_ignored is found
check fault_expiry_ignored { behaviour implies always (sound and residue_kept) }
  for exactly 3 Job, 0 Label, 0 Linger, 0 Forgets_cache, 0 Forgets_fabric, 0 Forgets_host, 0 FreesEarly, 0 ClaimUncounted, 0 ResidueForgotten, 0 RelabelUnnoticed, 0 GangUncounted, exactly 1 ExpiryIgnored, 1..7 steps expect 1

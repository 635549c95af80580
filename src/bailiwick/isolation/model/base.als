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
// <world>

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
  all CLAIMANTS : Claiming | let q = TOGETHER |
    not crowded[(Running + Leaving - at.(q.claim)) + q, at + claim, Kind]
}
pred isolated { apart and right_nodes and spread }
// Nobody comes into a domain that is kept for others.
pred residue_kept { all j : Job | (no j.at and some j.at') implies not kept[j, j.at'] }
// All of it: what one step must keep, so that every number of steps does.
pred sound { placed_once and no_ghosts and isolated }

// ---- commands -----------------------------------------------------------------------------------
// <commands>

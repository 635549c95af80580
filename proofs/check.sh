#!/bin/sh
# Proves everything again from nothing, builds the oracle and tries it.  Fails at
# the first thing that is wrong.
#
#   ./check.sh             everything below
#   ./check.sh mutants     also the mutants: each must be refused (some minutes)
#   ./check.sh oracle      only the oracle and what it comes from (quick)
#
# Works in build/, or in the folder that BUILD names.  Needs Debian bookworm's coq, libcoq-iris, libcoq-stdpp and ocaml-findlib.
set -eu
cd "$(dirname "$0")"
what=${1:-all}

for tool in coqc ocamlfind python3; do
    command -v "$tool" >/dev/null || {
        echo "check.sh: $tool is missing: apt-get install coq libcoq-iris libcoq-stdpp ocaml-findlib" >&2
        exit 1
    }
done

if [ "$what" = oracle ]; then files="model sources examples extract"; else files="model sources examples maps ledger collector extract"; fi

here=$PWD
build=${BUILD:-build}
rm -rf "$build"
mkdir -p "$build"
cp ./*.v oracle.ml "$build"
cd "$build"

# Nothing may be assumed: neither a proof left open nor a fact taken for granted.
if grep -nE '\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Hypothes[ie]s|Abort|bypass_check|Unset (Guard|Positivity|Universe))\b' ./*.v; then
    echo "check.sh: something is assumed in the lines above" >&2
    exit 1
fi

for file in $files; do
    echo "coqc $file.v"
    coqc -Q . bailiwick -w -notation-overridden "$file.v"
done

if [ "$what" != oracle ]; then
    # Ask Coq itself, theorem by theorem.
    {
        echo "From bailiwick Require model sources ledger collector."
        for file in model sources ledger collector; do
            sed -n "s/^Theorem \([a-zA-Z_0-9']*\).*/Print Assumptions $file.\1./p" "$file.v"
        done
        # What callers of the two programs rely on.
        for lemma in ledger.attributed_agree ledger.history_agree ledger.submit_spec \
            ledger.fail_node_spec ledger.read_counter_spec ledger.audit_spec \
            collector.committed_agree collector.deliver_spec collector.send_spec \
            collector.audit_collector_spec; do
            echo "Print Assumptions $lemma."
        done
    } >assumptions.v
    coqc -Q . bailiwick assumptions.v >assumptions.out
    asked=$(grep -c '^Print' assumptions.v)
    closed=$(grep -c '^Closed under the global context$' assumptions.out || true)
    if [ "$asked" -ne "$closed" ] || [ "$(wc -l <assumptions.out)" -ne "$closed" ]; then
        echo "check.sh: $asked theorems, $closed closed; see $build/assumptions.out" >&2
        exit 1
    fi
    echo "$closed of $asked theorems closed under the global context"
fi

ocamlfind ocamlopt -w -a reference.mli reference.ml oracle.ml -o oracle
python3 "$here/selftest.py" ./oracle

if [ "$what" = mutants ]; then
    python3 "$here/mutants.py" --build .
fi
echo "check.sh: all is well"

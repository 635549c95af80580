// The fields that a version's manifest asks for.
import { Labelled, Select, TextField } from "@/parts/labelled";
import type { Parameter } from "./manifest";

interface Terms {
  parameters: Parameter[];
  typed: Record<string, string>;
  set: (typed: Record<string, string>) => void;
}

export function ParameterFields({ parameters, typed, set }: Terms) {
  if (parameters.length === 0) return <p className="text-muted">This version has none.</p>;
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {parameters.map((each) => (
        <OneParameter
          key={each.name}
          parameter={each}
          value={typed[each.name] ?? ""}
          set={(value) => set({ ...typed, [each.name]: value })}
        />
      ))}
    </div>
  );
}

/** What holds if nothing is typed. */
export function emptySentence(fallback: unknown): string {
  if (fallback === undefined) return "as the app decides";
  if (fallback === "") return "nothing unless told";
  return `${typeof fallback === "string" ? fallback : JSON.stringify(fallback)} unless told`;
}

function OneParameter({
  parameter,
  value,
  set,
}: {
  parameter: Parameter;
  value: string;
  set: (value: string) => void;
}) {
  const { name, type, choices, isRequired } = parameter;
  const empty = emptySentence(parameter.fallback);
  const label = `${parameter.title || name}${isRequired ? "" : " (optional)"}`;
  const hint = parameter.description || undefined;
  const options = choices ?? (type === "boolean" ? ["true", "false"] : null);
  if (options !== null) {
    const rows = options.map((each) => [each, each] as const);
    return <Select {...{ label, value, set, hint }} options={[["", empty], ...rows]} />;
  }
  if (type === "other") {
    return (
      <Labelled label={label} hint={hint ?? "JSON"}>
        {(ids) => (
          <textarea
            {...ids}
            className="field font-mono text-xs"
            rows={2}
            spellCheck={false}
            placeholder={empty}
            value={value}
            onChange={(event) => set(event.target.value)}
          />
        )}
      </Labelled>
    );
  }
  return (
    <TextField {...{ label, value, set, hint }} placeholder={empty} isNumber={type === "integer"} />
  );
}

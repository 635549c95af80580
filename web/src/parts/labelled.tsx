// A field with its name above it and what helps below.
import { useId, type ReactNode } from "react";

interface Ids {
  id: string;
  "aria-describedby"?: string;
}

interface LabelledTerms {
  label: string;
  hint?: ReactNode;
  className?: string;
  /** The field; what it is given ties it to its name and its help. */
  children: (ids: Ids) => ReactNode;
}

export function Labelled({ label, hint, className = "", children }: LabelledTerms) {
  const id = useId();
  const ids = hint === undefined ? { id } : { id, "aria-describedby": `${id}-hint` };
  return (
    <div className={`min-w-0 space-y-1 ${className}`}>
      <label htmlFor={id} className="block font-medium">
        {label}
      </label>
      {children(ids)}
      {hint !== undefined && (
        <span id={`${id}-hint`} className="block text-xs text-muted">
          {hint}
        </span>
      )}
    </div>
  );
}

interface SelectTerms<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  set: (value: T) => void;
  hint?: ReactNode;
  className?: string;
}

export function Select<T extends string>(terms: SelectTerms<T>) {
  return (
    <Labelled label={terms.label} hint={terms.hint} className={terms.className}>
      {(ids) => (
        <select
          {...ids}
          className="field"
          value={terms.value}
          onChange={(event) => terms.set(event.target.value as T)}
        >
          {terms.options.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface TextTerms {
  label: string;
  value: string;
  set: (value: string) => void;
  hint?: ReactNode;
  placeholder?: string;
  className?: string;
  isNumber?: boolean;
}

export function TextField(terms: TextTerms) {
  return (
    <Labelled label={terms.label} hint={terms.hint} className={terms.className}>
      {(ids) => (
        <input
          {...ids}
          className="field"
          type={terms.isNumber ? "number" : "text"}
          {...(terms.isNumber ? { min: 0, step: 1 } : {})}
          spellCheck={false}
          value={terms.value}
          placeholder={terms.placeholder}
          onChange={(event) => terms.set(event.target.value)}
        />
      )}
    </Labelled>
  );
}

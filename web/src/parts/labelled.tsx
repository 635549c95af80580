// A field with its name above it and what helps below.
import type { ReactNode } from "react";

interface LabelledTerms {
  label: string;
  hint?: ReactNode;
  className?: string;
  children: ReactNode;
}

export function Labelled({ label, hint, className = "", children }: LabelledTerms) {
  return (
    <label className={`block min-w-0 space-y-1 ${className}`}>
      <span className="font-medium">{label}</span>
      {children}
      {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
    </label>
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
      <select
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
      <input
        className="field"
        type={terms.isNumber ? "number" : "text"}
        {...(terms.isNumber ? { min: 0, step: 1 } : {})}
        spellCheck={false}
        value={terms.value}
        placeholder={terms.placeholder}
        onChange={(event) => terms.set(event.target.value)}
      />
    </Labelled>
  );
}

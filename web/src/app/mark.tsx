export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden className="shrink-0">
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path d="M8 9h5v5H8zM15 9h9v5h-9zM8 16h9v7H8zM19 16h5v7h-5z" className="fill-on-accent" />
    </svg>
  );
}

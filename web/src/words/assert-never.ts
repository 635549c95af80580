/** The end of every `switch` over a closed word: a word without its case does not compile. */
export function assertNever(word: never): never {
  throw new Error(`a word that this page does not know: ${String(word)}`);
}

/** The number of single-letter edits (insert, delete, replace, swap neighbours) between two words, at most `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row.push(best);
    }
    if (Math.min(...row) > limit) return limit + 1;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? limit + 1;
}

const plainForm = (word: string) => word.toLowerCase().replaceAll(/[-_.\s]/g, '');

/** The names of `known` that are most similar to `word`, at most `count`, best first. */
export function nearMisses(word: string, known: Iterable<string>, count = 1): string[] {
  if (word.length > 200) return [];
  const wanted = plainForm(word);
  const limit = Math.max(1, Math.min(3, Math.floor(wanted.length / 3)));
  const scored: { readonly name: string; readonly score: number }[] = [];
  for (const name of known) {
    const form = plainForm(name);
    const score = editDistance(wanted, form, limit);
    if (score <= limit) scored.push({ name, score });
    else if (wanted.length >= 3 && (form.includes(wanted) || (form.length >= 3 && wanted.includes(form)))) {
      scored.push({ name, score: limit + 1 + Math.abs(form.length - wanted.length) / 100 });
    }
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, count).map(({ name }) => name);
}

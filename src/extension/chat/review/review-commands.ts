import type { PendingReviews } from './pending-reviews.ts';

type Command = (args: readonly unknown[]) => Promise<unknown>;

/** The commands of pending changes, by command id. Lenses pass the file and the first line of the hunk. */
export function reviewCommands(reviews: PendingReviews) {
  return {
    'svc.review.acceptHunk': ([uri, start]) => reviews.acceptHunk(uri, start),
    'svc.review.rejectHunk': ([uri, start]) => reviews.rejectHunk(uri, start),
    'svc.review.next': () => reviews.move(1),
    'svc.review.previous': () => reviews.move(-1),
    'svc.review.acceptFile': ([uri]) => reviews.acceptFile(uri),
    'svc.review.rejectFile': ([uri]) => reviews.rejectFile(uri),
    'svc.review.viewDiff': ([uri]) => reviews.viewDiff(uri),
    'svc.review.all': () => reviews.viewAll(),
    'svc.review.followUp': ([uri]) => reviews.followUp(uri),
  } satisfies Readonly<Record<`svc.review.${string}`, Command>>;
}

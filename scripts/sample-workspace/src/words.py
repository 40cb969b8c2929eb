"""Counts words."""

from collections import Counter


def count_words(text: str) -> Counter:
    """How often each word of the text occurs, in lower case."""
    words = text.lower().split()
    return Counter(words)


def most_common(text: str, limit: int = 10) -> list:
    """The words that occur most often."""
    counts = count_words(text)
    return counts.most_common(limit)

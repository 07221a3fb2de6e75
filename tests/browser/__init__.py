"""The pages in a real browser: Chromium, driven by Playwright. Skipped with the reason where one is missing."""

/** Sets the chosen theme before anything is painted; a script of its own, as nothing may stand in the page. */

try {
  const theme = localStorage.getItem("service.theme");
  if (theme !== null) document.documentElement.dataset.theme = theme;
} catch {
  // Storage is off: the system's theme counts.
}

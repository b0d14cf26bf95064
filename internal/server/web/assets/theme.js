// The theme that was chosen in this browser is there before the first paint: this is no
// module, so that the page waits for it.
(function () {
  function apply() {
    var theme = null;
    try { theme = localStorage.getItem('theme'); } catch (e) { /* it may not be kept here */ }
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  }
  apply();
  addEventListener('storage', apply); // another tab has chosen
  addEventListener('pageshow', apply); // this page was kept while another one has chosen
}());

// The index works without this: it adds a search field, a count, and addresses that keep the filters.
(() => {
  const items = [...document.querySelectorAll('.findings > li')], radios = [...document.querySelectorAll('.filter')];
  if (!items.length) return;
  const box = document.createElement('input'), count = document.createElement('p');
  box.type = 'search'; box.placeholder = 'Search titles, tags, ids'; box.setAttribute('aria-label', 'Search');
  count.className = 'meta'; count.setAttribute('aria-live', 'polite');
  document.querySelector('.filters').append(box, count);
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const li of items) li.hidden = !words.every(w => li.textContent.toLowerCase().includes(w));
    const seen = items.filter(li => li.getClientRects().length).length;
    count.textContent = seen + ' of ' + items.length + (seen === 1 ? ' finding' : ' findings');
  };
  const keep = () => {
    const on = radios.filter(r => r.checked && !r.id.endsWith('-all')).map(r => r.id);
    history.replaceState(null, '', on.length ? '#' + on.join(',') : location.pathname);
    show();
  };
  for (const id of decodeURIComponent(location.hash.slice(1)).split(',')) { const r = document.getElementById(id); if (r && r.type === 'radio') r.checked = true; }
  radios.forEach(r => r.addEventListener('change', keep));
  box.addEventListener('input', show);
  show();
})();

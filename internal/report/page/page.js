'use strict'
// Filters the changes that are on the page, moves the focus through them and copies
// commands. Without it, everything can be read.
{
  const byId = (id) => document.getElementById(id)
  const form = byId('filters')
  const said = byId('said')

  const copied = async (button) => {
    const code = button.previousElementSibling
    try {
      await navigator.clipboard.writeText(code.textContent)
    } catch {
      // A page that was opened from a file may have no clipboard: select the text instead.
      getSelection().selectAllChildren(code)
      if (!document.execCommand('copy')) {
        said.textContent = 'Selected: copy it with Ctrl+C'
        return
      }
    }
    button.textContent = said.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 1500)
  }
  for (const button of document.querySelectorAll('.copy')) {
    button.hidden = false
    button.addEventListener('click', () => copied(button))
  }

  if (form) {
    const search = byId('search')
    const all = byId('all')
    const status = byId('status')
    const none = byId('none')
    const cards = [...document.querySelectorAll('article.card')].map((card) => {
      const about = (card.querySelector('h3').textContent + ' ' + card.querySelector('.reason').textContent).toLowerCase()
      const rest = card.querySelector('.rest')
      const rows = [...card.querySelectorAll('tr[id]')].map((row) => {
        const says = row.nextElementSibling?.classList.contains('says') ? row.nextElementSibling : null
        const text = (row.textContent + ' ' + (says?.textContent ?? '') + ' ' + about).toLowerCase()
        return { row, says, text, data: { ...row.dataset }, deep: rest?.contains(row) }
      })
      return { card, rows, rest }
    })
    const cells = [...document.querySelectorAll('.cells > *')].map((cell) => ({ cell, only: cell.dataset.thing, text: cell.title.toLowerCase() }))
    const buttons = [...form.querySelectorAll('[data-filter]')]
    const everything = status.textContent
    const total = cards.reduce((n, card) => n + card.rows.length, 0)
    let only = '' // one VM or unit

    // show changes only what differs, because each change costs a layout.
    const show = (element, shown) => {
      if (element.hidden === shown) element.hidden = !shown
    }

    // apply shows what matches every kind of filter, and one of the values of each kind.
    const apply = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
      const wanted = {}
      for (const button of buttons) {
        if (button.getAttribute('aria-pressed') === 'true') {
          (wanted[button.dataset.filter] ??= new Set()).add(button.dataset.value)
        }
      }
      const kinds = Object.entries(wanted)
      const active = kinds.length > 0 || words.length > 0 || only !== ''
      const shown = new Set()
      let n = 0
      for (const { card, rows, rest } of cards) {
        let here = 0
        let below = 0
        for (const { row, says, data, text, deep } of rows) {
          const matches = (only === '' || data.thing === only || data.unit === only) &&
            words.every((word) => text.includes(word)) && kinds.every(([kind, values]) => values.has(data[kind]))
          show(row, matches)
          if (says) show(says, matches)
          if (matches) {
            here++
            shown.add(data.thing).add(data.unit)
            if (deep) below++
          }
        }
        show(card, here > 0)
        if (rest) {
          show(rest, below > 0)
          rest.firstElementChild.textContent = `${below} more`
          const open = active && below > 0 && below <= 30
          if (open ? !rest.open : rest.dataset.opened) {
            rest.open = open
            if (open) rest.dataset.opened = '1'
            else delete rest.dataset.opened
          }
        }
        n += here
      }
      for (const { cell, only: thing, text } of cells) {
        const matches = only !== '' ? thing === only : shown.has(thing) || (kinds.length === 0 && words.every((word) => text.includes(word)))
        cell.classList.toggle('dim', active && !matches)
      }
      none.hidden = n > 0
      all.hidden = !active
      status.textContent = active ? `${n} of ${total} changes${only === '' ? '' : ' of ' + only}` : everything
    }
    const reset = () => {
      search.value = only = ''
      for (const button of buttons) button.setAttribute('aria-pressed', 'false')
      apply()
    }
    // step moves the focus to the next or previous change that is shown.
    const step = (by) => {
      const visible = cards.filter(({ card }) => !card.hidden).map(({ card }) => card)
      const at = visible.indexOf(document.activeElement?.closest('article.card'))
      const next = visible[at < 0 ? (by > 0 ? 0 : visible.length - 1) : at + by]
      next?.focus()
      next?.scrollIntoView({ block: 'start' })
    }

    form.hidden = false
    if (innerWidth > 900) byId('by').open = true
    form.addEventListener('submit', (event) => event.preventDefault())
    search.addEventListener('input', apply)
    all.addEventListener('click', () => { reset(); search.focus() })
    for (const button of buttons) {
      button.addEventListener('click', () => {
        button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'))
        apply()
      })
    }
    document.querySelector('#picture').addEventListener('click', (event) => {
      const cell = event.target.closest('a[data-thing]')
      if (!cell) return
      event.preventDefault()
      only = only === cell.dataset.thing ? '' : cell.dataset.thing
      apply()
      if (only !== '') step(1)
    })
    document.querySelector('header').addEventListener('click', (event) => {
      if (event.target.closest('a[href^="#c"]')) reset()
    })
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'Escape') {
        reset()
        return
      }
      const typing = document.activeElement === search
      if (typing && (event.key === 'ArrowDown' || event.key === 'Enter')) {
        event.preventDefault()
        search.blur()
        step(1)
      } else if (!typing && event.key === '/') {
        event.preventDefault()
        search.focus()
        search.select()
      } else if (!typing && (event.key === 'j' || event.key === 'k')) {
        step(event.key === 'j' ? 1 : -1)
      }
    })
  }
}

// What the keys do in a grid.

/** Does what a key means; others are left to the page. */
export function gridKey(event, grid, source) {
  if (event.target !== grid.element || grid.rowCount === 0) return;
  const { row, column } = grid.active;
  const isFar = event.ctrlKey || event.metaKey;
  const moves = {
    ArrowUp: () => grid.activate(row - 1, column),
    ArrowDown: () => grid.activate(row + 1, column),
    ArrowLeft: () => (event.altKey ? source.move(column, column - 1) : grid.activate(row, column - 1)),
    ArrowRight: () => (event.altKey ? source.move(column, column + 1) : grid.activate(row, column + 1)),
    PageUp: () => grid.activate(row - grid.rowsInPage, column),
    PageDown: () => grid.activate(row + grid.rowsInPage, column),
    Home: () => (isFar ? grid.activate(0, column) : grid.activate(row, 0)),
    End: () => (isFar ? grid.activate(grid.rowCount - 1, column) : grid.activate(row, grid.columns.length - 1)),
    Enter: () => source.open(row, grid.activeColumn, event),
    F2: () => source.edit?.(row, grid.activeColumn, grid.activeCell),
    Delete: () => source.remove?.(row),
    ContextMenu: () => source.menu(row, grid.activeColumn, grid.activeCell),
  };
  const letters = {
    f: () => source.filter(row, grid.activeColumn, false),
    x: () => source.filter(row, grid.activeColumn, true),
    s: () => source.sort(grid.activeColumn, false),
    S: () => source.sort(grid.activeColumn, true),
  };
  const action = moves[event.key] ?? (isFar || event.altKey ? null : letters[event.key]);
  if (isFar && event.key === "c" && getSelection().isCollapsed) source.copy(row, grid.activeColumn);
  else if (event.key === "F10" && event.shiftKey) moves.ContextMenu();
  else if (action) action();
  else return;
  event.preventDefault();
}

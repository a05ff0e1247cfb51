async (first, second, scale) => {
  const read = async data => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    return image;
  };
  const images = [await read(first), await read(second)];
  const width = Math.max(...images.map(image => image.width));
  const height = Math.max(...images.map(image => image.height));
  const canvases = images.map(image => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return context;
  });
  const [one, two] = canvases.map(context => new Uint8ClampedArray(
    context.getImageData(0, 0, width, height).data.buffer));
  const shown = canvases[1].getImageData(0, 0, width, height);
  const out = shown.data;
  // Adjacent cells with differing pixels form one region.
  const side = 16, columns = Math.ceil(width / side), rows = Math.ceil(height / side);
  const cells = new Uint32Array(columns * rows);
  const isApart = at => Math.abs(one[at] - two[at]) > 4;
  let count = 0;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const differs = isApart(at) || isApart(at + 1) || isApart(at + 2) || isApart(at + 3);
      if (differs) {
        count++;
        cells[Math.floor(y / side) * columns + Math.floor(x / side)]++;
        [out[at], out[at + 1], out[at + 2], out[at + 3]] = [214, 20, 60, 255];
      } else {
        const pale = 255 - (255 - (out[at] + out[at + 1] + out[at + 2]) / 3) / 4;
        out[at] = out[at + 1] = out[at + 2] = pale;
        out[at + 3] = 255;
      }
    }
  }
  const places = [];
  for (let start = 0; start < cells.length; start++) {
    if (!cells[start]) continue;
    const place = { left: columns, top: rows, right: 0, bottom: 0, count: 0 };
    const waiting = [start];
    place.count += cells[start];
    cells[start] = 0;
    while (waiting.length) {
      const cell = waiting.pop(), x = cell % columns, y = Math.floor(cell / columns);
      place.left = Math.min(place.left, x);
      place.right = Math.max(place.right, x + 1);
      place.top = Math.min(place.top, y);
      place.bottom = Math.max(place.bottom, y + 1);
      for (let row = Math.max(0, y - 1); row <= Math.min(rows - 1, y + 1); row++) {
        for (let column = Math.max(0, x - 1); column <= Math.min(columns - 1, x + 1); column++) {
          const next = row * columns + column;
          if (!cells[next]) continue;
          place.count += cells[next];
          cells[next] = 0;
          waiting.push(next);
        }
      }
    }
    places.push(place);
  }
  canvases[1].putImageData(shown, 0, 0);
  const inPage = cell => Math.round(cell * side / scale);
  return {
    width, height, scale, count, placeCount: places.length,
    places: places.sort((a, b) => b.count - a.count).slice(0, 10).map(place => ({
      x: inPage(place.left), y: inPage(place.top), width: inPage(place.right - place.left),
      height: inPage(place.bottom - place.top),
    })),
    picture: canvases[1].canvas.toDataURL("image/png").split(",")[1],
  };
}

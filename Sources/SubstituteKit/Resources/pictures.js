// If the page has a file URL, the browser refuses to read pixels; the image then counts as opaque.
function isTransparent(image) {
  try {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [24, 24];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0, 24, 24);
    return context.getImageData(0, 0, 24, 24).data.some((value, index) => index % 4 === 3 && value < 250);
  } catch {
    return false;
  }
}

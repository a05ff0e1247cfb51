async urls => {
  await Promise.all(urls.map(url => new Promise(resolve => {
    const image = new Image();
    image.onload = image.onerror = resolve;
    image.src = url;
  })));
  return true;
}
